#include "switchboard/ops/foreach/foreach.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/outputs/meta_rehearsal.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

bool is_listed(const IValue& value) { return value.is_TensorList() || value.is_List(); }
size_t length_of(const IValue& list) {
  return list.is_TensorList() ? list.to_tensor_list().size() : list.to_list().size();
}
IValue element_of(const IValue& value, size_t i) {
  if (value.is_TensorList()) return value.to_tensor_list()[i];
  return value.is_List() ? value.to_list()[i] : value;
}

// The arguments of one call, and those of the calls that it consists of.
class Elements {
 public:
  Elements(const FunctionSchema& schema, absl::Span<const IValue> arguments)
      : name_(schema.name.to_string()), schema_(schema), arguments_(arguments) {
    const bool any = std::ranges::any_of(
        arguments, [](const IValue& v) { return v.is_TensorList() && length_of(v) != 0; });
    SB_CHECK(any, name_, ": there is no tensor among the arguments");
    size_ = length_of(*std::ranges::find_if(arguments, is_listed));
    for (size_t i = 0; i < arguments.size(); ++i) {
      check_list(schema.arguments[i].name, i);
      check_single(schema.arguments[i].name, i);
    }
  }

  size_t size() const { return size_; }
  const Tensor& self(size_t i) const { return arguments_[0].to_tensor_list()[i]; }

  Stack arguments(const OperatorHandle& element, size_t i) const {
    const std::vector<Argument>& wanted = element.schema().arguments;
    Stack stack;
    stack.reserve(wanted.size());
    for (size_t k = 0; k < wanted.size(); ++k) {
      const std::optional<size_t> given = given_for(wanted, k);
      stack.push_back(given ? element_of(arguments_[*given], i)
                            : wanted[k].default_value.value_or(IValue()));
    }
    return stack;
  }

  // Whether nothing but the data distinguishes the elements, so that an in-place operator that
  // takes the first takes them all.
  bool are_alike() const {
    for (const IValue& value : arguments_) {
      // Numbers may differ in kind, or not fit the dtype.
      if (value.is_List()) return size() == 1;
      if (!value.is_TensorList()) continue;
      const TensorList list = value.to_tensor_list();
      for (size_t i = 0; i < list.size(); ++i) {
        if (!is_like(list[i], list[0]) || !fits(list[i], self(i))) return false;
      }
    }
    return true;
  }

  bool are_symbolic() const {
    for (size_t i = 0; i < size(); ++i)
      if (any_symbolic(self(i))) return true;
    return false;
  }

 private:
  // The argument for the element's k-th: the one of its name, or else the k-th, unless that is
  // named as another one of the element's.
  std::optional<size_t> given_for(const std::vector<Argument>& wanted, size_t k) const {
    for (size_t j = 0; j < arguments_.size(); ++j)
      if (schema_.arguments[j].name == wanted[k].name) return j;
    const bool is_other =
        k < arguments_.size() && std::ranges::any_of(wanted, [&](const Argument& argument) {
          return argument.name == schema_.arguments[k].name;
        });
    return k < arguments_.size() && !is_other ? std::optional(k) : std::nullopt;
  }
  void check_list(const std::string& argument, size_t i) const {
    if (!is_listed(arguments_[i])) return;
    const size_t length = length_of(arguments_[i]);
    if (arguments_[i].is_TensorList()) {
      for (const Tensor& t : arguments_[i].to_tensor_list())
        SB_CHECK(t.defined(), name_, ": ", argument, ": got an undefined tensor");
    }
    SB_CHECK(length != 0, name_, ": ", argument, " is empty");
    SB_CHECK(length == size(), name_, ": expected lists of equal length, got ", size(),
             " in the first and ", length, " elements in ", argument);
  }
  // A tensor that stands for a number.
  void check_single(const std::string& argument, size_t i) const {
    if (!arguments_[i].is_Tensor()) return;
    const Tensor& t = arguments_[i].to_tensor();
    check_defined(name_.c_str(), t);
    SB_CHECK(t.dim() == 0, name_, ": ", argument, ": expected 0 dimensions, got ", t.describe());
  }
  static bool is_like(const Tensor& a, const Tensor& b) {
    return a.defined() && b.defined() && a.dtype() == b.dtype() && a.device() == b.device() &&
           a.impl()->is_wrapped_number() == b.impl()->is_wrapped_number();
  }
  static bool has_size_of(const Tensor& t, const Tensor& self) {
    if (!any_symbolic(t, self)) return t.sizes() == self.sizes();
    return known(equal_sizes<SymInt>(t.sym_sizes(), self.sym_sizes()));
  }
  static bool fits(const Tensor& t, const Tensor& self) {
    if (!self.defined() || !self.impl()->is_non_overlapping_and_dense()) return false;
    return t.is_same(self) || (!t.is_alias_of(self) && has_size_of(t, self));
  }

  std::string name_;
  const FunctionSchema& schema_;
  absl::Span<const IValue> arguments_;
  size_t size_;
};

// The kernels of the functional and the in-place form.
class Foreach {
 public:
  Foreach(Dispatcher& dispatcher, ForeachElement element, bool inplace)
      : dispatcher_(dispatcher),
        element_(OperatorName::parse(element.functional)),
        inplace_element_{element_.name + "_", element_.overload},
        inplace_(inplace) {
    if (!element.inplace.empty()) inplace_element_ = OperatorName::parse(element.inplace);
  }

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const size_t first = stack->size() - op.schema().arguments.size();
    const Elements elements(op.schema(), absl::MakeConstSpan(*stack).subspan(first));
    std::vector<Tensor> results;
    if (!inplace_) {
      results = run(elements);
    } else if (const auto element = dispatcher_.find_op(inplace_element_)) {
      write(*element, elements);
    } else {
      write_by_copy(op.schema(), elements);
    }
    stack->resize(first);
    if (!inplace_) stack->emplace_back(std::move(results));
  }

 private:
  // With `self_is_kept`, on copies of self: it will be written to, and a derivative may need it.
  std::vector<Tensor> run(const Elements& elements, bool self_is_kept = false) const {
    const OperatorHandle element = dispatcher_.find_op_or_throw(element_.to_string());
    std::vector<Tensor> results;
    results.reserve(elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      Stack call = elements.arguments(element, i);
      if (self_is_kept) call[0] = clone(call[0].to_tensor());
      element.call_boxed(&call);
      results.push_back(std::move(call.back()).to_tensor());
    }
    return results;
  }

  static void write(const OperatorHandle& element, const Elements& elements) {
    // Tensors with symbols hold nothing that a call which throws could leave half written.
    if (!elements.are_symbolic() && !elements.are_alike()) {
      for (size_t i = 0; i < elements.size(); ++i)
        MetaRehearsal::run(element, elements.arguments(element, i));
    }
    for (size_t i = 0; i < elements.size(); ++i) {
      Stack call = elements.arguments(element, i);
      element.call_boxed(&call);
    }
  }

  // The result may have another dtype than self.
  void write_by_copy(const FunctionSchema& schema, const Elements& elements) const {
    const std::vector<Tensor> results = run(elements, true);
    for (size_t i = 0; i < results.size(); ++i) {
      check_no_internal_overlap(elements.self(i));
      const Tensor& self = elements.self(i);
      by_size(any_symbolic(results[i], self), [&]<class Int>() {
        SB_CHECK(equal_sizes<Int>(sizes_of<Int>(results[i]), sizes_of<Int>(self)),
                 schema.name.to_string(), ": self of shape ", shape_text(sizes_of<Int>(self)),
                 " doesn't match the result's shape ", shape_text(sizes_of<Int>(results[i])));
      });
    }
    for (size_t i = 0; i < results.size(); ++i) copy_(elements.self(i), results[i]);
  }

  Dispatcher& dispatcher_;
  OperatorName element_;
  OperatorName inplace_element_;
  bool inplace_;
};

FunctionSchema inplace_schema_of(FunctionSchema schema) {
  schema.name.name += "_";
  schema.arguments[0].alias = AliasInfo{{"a"}, {"a"}, true, 0};
  schema.returns.clear();
  return schema;
}

}  // namespace

void define_foreach(Library& m, std::string_view schema, ForeachElement element, ForeachForms forms,
                    SourceLocation where) {
  auto functional = define(m, schema, Tag::derived_through, where);
  functional.composite_explicit(Foreach(m.dispatcher(), element, false));
  if (forms == ForeachForms::Functional) return;
  const std::string& overload = functional.handle().name().overload;
  functional.out(overload.empty() ? "out" : overload + "_out");
  if (forms != ForeachForms::All) return;
  define(m, inplace_schema_of(functional.handle().schema()).to_string(), Tag::derived_through,
         where)
      .composite_explicit(Foreach(m.dispatcher(), element, true));
}

}  // namespace sb
