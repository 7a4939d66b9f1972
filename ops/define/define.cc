#include "switchboard/ops/define/define.h"

#include <algorithm>

#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"

namespace sb {
namespace {

bool is_creation_option(const Argument& a) {
  return a.kwarg_only &&
         (a.name == "dtype" || a.name == "layout" || a.name == "device" || a.name == "pin_memory");
}

FunctionSchema out_schema_of(const FunctionSchema& functional, std::string_view overload,
                             std::vector<std::string> outs) {
  const std::string name = functional.name.to_string();
  SB_CHECK(!functional.is_mutable(), name,
           ": an operator that writes to an argument has no out= form");
  FunctionSchema schema = functional;
  schema.name.overload = overload;
  if (std::ranges::count(schema.arguments, "pin_memory", &Argument::name) > 0)
    std::erase_if(schema.arguments, is_creation_option);
  const size_t n = functional.returns.size();
  for (size_t i = 0; outs.size() < n; ++i)
    outs.push_back(n == 1 ? "out" : "out" + std::to_string(i));
  bool lists = false;
  for (size_t i = 0; i < n; ++i) {
    const Type& type = functional.returns[i].type;
    SB_CHECK(base_of(type.code()) == BaseType::Tensor, name, ": its result ", i, " is no tensor");
    const std::string set(1, static_cast<char>('a' + i));
    const AliasInfo alias{{set}, {set}, true, 0};
    schema.arguments.push_back({outs[i], type, alias, std::nullopt, /*kwarg_only=*/true});
    schema.returns[i].alias = alias;
    lists |= type.code() != type_code(BaseType::Tensor);
  }
  if (lists) schema.returns.clear();
  return schema;
}

// The out= form of any operator: calls it, and copies its results.
class CopiedOut {
 public:
  CopiedOut(OperatorHandle functional, const FunctionSchema& out, const OutOptions& options)
      : functional_(functional), options_(options) {
    for (const Argument& a : functional.schema().arguments) {
      from_out_.push_back(std::ranges::none_of(
          out.arguments, [&](const Argument& given) { return given.name == a.name; }));
    }
  }

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const FunctionSchema& schema = op.schema();
    const size_t first = stack->size() - schema.arguments.size();
    const size_t inputs = static_cast<size_t>(std::ranges::count(from_out_, false));
    const auto begin = stack->begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<IValue> outs(begin + static_cast<std::ptrdiff_t>(inputs), stack->end());
    Stack call;
    for (size_t i = 0, from = first; i < from_out_.size(); ++i) {
      if (from_out_[i]) {
        call.push_back(option(functional_.schema().arguments[i].name, outs[0]));
      } else {
        call.push_back((*stack)[from++]);
      }
    }
    functional_.call_boxed(&call);
    write(op, call, outs);
    stack->resize(first);
    if (!schema.returns.empty()) stack->insert(stack->end(), outs.begin(), outs.end());
  }

 private:
  static IValue option(std::string_view name, const IValue& out) {
    if (!out.is_Tensor() || !out.to_tensor().defined()) return {};
    const Tensor& t = out.to_tensor();
    if (name == "dtype") return t.dtype();
    if (name == "device") return t.device();
    return {};
  }
  void write(const OperatorHandle& op, const Stack& results,
             const std::vector<IValue>& outs) const {
    const std::string name = op.schema().name.to_string();
    std::vector<ResultAndOut> pairs;
    const auto add = [&](const Tensor& result, const Tensor& out) {
      if (result.defined()) pairs.emplace_back(result, out);
    };
    for (size_t i = 0; i < outs.size(); ++i) {
      if (!outs[i].is_TensorList()) {
        add(results[i].to_tensor(), outs[i].to_tensor());
        continue;
      }
      const TensorList from = results[i].to_tensor_list(), to = outs[i].to_tensor_list();
      SB_CHECK(from.size() == to.size(), name, ": expected ", from.size(), " outs, got ",
               to.size());
      for (size_t k = 0; k < from.size(); ++k) add(from[k], to[k]);
    }
    copy_results_to_outs(name, pairs, options_);
  }

  OperatorHandle functional_;
  // Of each argument of the operator, whether it is taken from out.
  std::vector<bool> from_out_;
  OutOptions options_;
};

// The schema under another name, with results that share no memory and nothing written to.
FunctionSchema functional_schema(FunctionSchema schema, std::string name) {
  schema.name.name = std::move(name);
  for (Argument& argument : schema.arguments) argument.alias.reset();
  for (Return& result : schema.returns) result.alias.reset();
  return schema;
}
std::string out_overload(const FunctionSchema& schema) {
  return schema.name.overload.empty() ? "out" : schema.name.overload + "_out";
}

IValue& self_of(const OperatorHandle& op, Stack* stack) {
  return (*stack)[stack->size() - op.schema().arguments.size()];
}
// Kernels that call `callee`, which may be registered after them: a view, of which what still
// shares self's memory is copied, and an in-place operator on a clone of self.
auto view_copy_kernel(Dispatcher& dispatcher, std::string callee) {
  return [&dispatcher, callee](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
    const Tensor self = self_of(op, stack).to_tensor();
    dispatcher.find_op_or_throw(callee).call_boxed(stack);
    stack->back() = map_tensors(stack->back(), [&](const Tensor& t) {
      return t.is_alias_of(self) ? clone(t, MemoryFormat::Contiguous) : t;
    });
  };
}
auto on_clone_kernel(Dispatcher& dispatcher, std::string callee) {
  return [&dispatcher, callee](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
    IValue& self = self_of(op, stack);
    SB_CHECK(self.to_tensor().defined(), op.schema().name.to_string(),
             ": self: expected a tensor, got none");
    self = clone(self.to_tensor());
    dispatcher.find_op_or_throw(callee).call_boxed(stack);
  };
}

// Tag::inplace and Tag::out of an operator of ATen, which follow from its schema. As `torchgen`'s
// kinds of schemas.
TagSet with_form_tags(const FunctionSchema& schema, TagSet tags) {
  if (!schema.is_mutable() || schema.name.ns() != "aten") return tags;
  const Argument& first = schema.arguments.front();
  if (std::ranges::any_of(schema.arguments, [](const Argument& a) { return a.is_out(); }))
    tags |= Tag::out;
  else if (first.is_write() && schema.name.name.back() == '_')
    tags |= Tag::inplace;
  return tags;
}

}  // namespace

// Families and whoever else adds to aten open fragments of it: this program's aten is here, and
// nobody can own it again.
SB_LIBRARY(aten, m) {}

OperatorHandle internal::define_operator(Library& m, FunctionSchema schema, TagSet tags,
                                         SourceLocation where) {
  const TagSet all = with_form_tags(schema, tags);
  const OperatorHandle op = m.define(std::move(schema), all, AliasAnalysis::FromSchema, where);
  if (tags.has(Tag::dynamic_output_shape)) {
    m.impl(
        op, DispatchKey::Meta,
        [](const OperatorHandle& handle, DispatchKeySet, Stack*) {
          SB_THROW(DynamicOutputShapeError, handle.schema().name.to_string(),
                   ": the result's shape depends on the data, which meta tensors do not have");
        },
        where);
  }
  return op;
}

void AnyDefinition::add_own(DispatchKey key, KernelFunction kernel) {
  add(op_.schema().name.to_string(), key, std::move(kernel));
  keys_.push_back(key);
}

OperatorHandle AnyDefinition::define_form(FunctionSchema schema) {
  const TagSet tags = with_form_tags(schema, op_.entry().tags());
  return m_.define(std::move(schema), tags, AliasAnalysis::FromSchema, where_);
}

void AnyDefinition::copy_out(const OperatorHandle& out, const OutOptions& options) {
  const bool composed = std::ranges::count(keys_, DispatchKey::CompositeImplicitAutograd) > 0;
  const DispatchKey key = options.key.value_or(composed ? DispatchKey::CompositeImplicitAutograd
                                                        : DispatchKey::CompositeExplicitAutograd);
  m_.impl(out, key, CopiedOut(op_, out.schema(), options), where_);
}

void AnyDefinition::define_out(std::string_view overload, std::vector<std::string> names,
                               const OutOptions& options) {
  copy_out(define_form(out_schema_of(op_.schema(), overload, std::move(names))), options);
}

void define_view_copy(Library& m, std::string_view view_schema, std::string_view callee,
                      SourceLocation where) {
  const FunctionSchema view = parse_schema(view_schema);
  const std::string name = view.name.to_string();
  const FunctionSchema schema = functional_schema(view, view.name.name + "_copy");
  // As PyTorch, where one of these writes its parts as copy_ does.
  const OutOptions options =
      name == "aten::split.Tensor" ? OutOptions{.keep_shape = true} : kStructuredOut;
  // A backend that has functional operators only must not find a kernel made of views.
  define(m, schema, {Tag::derived_through, Tag::view_copy}, where)
      .kernel(DispatchKey::CompositeExplicitAutogradNonFunctional,
              view_copy_kernel(m.dispatcher(), callee.empty() ? name : std::string(callee)))
      .out(out_overload(schema), options);
}

void define_functional(Library& m, std::string_view inplace_schema, SourceLocation where) {
  const FunctionSchema inplace = parse_schema(inplace_schema);
  std::string name = inplace.name.name;
  name.pop_back();  // the underscore
  const FunctionSchema schema = functional_schema(inplace, std::move(name));
  define(m, schema, {}, where)
      .composite_explicit(on_clone_kernel(m.dispatcher(), inplace.name.to_string()))
      .out(out_overload(schema));
}

void AnyDefinition::add_on_clone(std::string_view inplace) {
  add_own(DispatchKey::CompositeExplicitAutograd,
          make_kernel(on_clone_kernel(m_.dispatcher(), std::string(inplace))));
}

}  // namespace sb
