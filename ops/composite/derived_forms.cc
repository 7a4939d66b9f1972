#include "switchboard/ops/composite/derived_forms.h"

#include <string>
#include <utility>

#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/map_tensors.h"
#include "switchboard/ops/define/out_form.h"

namespace sb {
namespace {

// The schema under another name, with results that share no memory and nothing written to.
FunctionSchema functional_schema(FunctionSchema schema, std::string name) {
  schema.name.name = std::move(name);
  for (Argument& argument : schema.arguments) argument.alias.reset();
  for (Return& result : schema.returns) result.alias.reset();
  return schema;
}

OperatorHandle define_with_out(Library& m, const FunctionSchema& schema, TagSet tags,
                               OutFormOptions options, SourceLocation where) {
  const OperatorHandle op = m.define(schema.to_string(), tags, where);
  const std::string& overload = schema.name.overload;
  define_out_form(m, op, overload.empty() ? "out" : overload + "_out", {}, options, where);
  return op;
}

// Kernels that call another operator, which may be registered after them.
class CallsAnother {
 public:
  CallsAnother(Dispatcher& dispatcher, std::string callee)
      : dispatcher_(dispatcher), callee_(std::move(callee)) {}

 protected:
  void call(Stack* stack) const { dispatcher_.find_op_or_throw(callee_).call_boxed(stack); }

 private:
  Dispatcher& dispatcher_;
  std::string callee_;
};

class ViewCopy : CallsAnother {
 public:
  using CallsAnother::CallsAnother;
  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const Tensor self = (*stack)[stack->size() - op.schema().arguments.size()].to_tensor();
    call(stack);
    const auto own = [&](const Tensor& t) {
      return t.is_alias_of(self) ? clone(t, MemoryFormat::Contiguous) : t;
    };
    stack->back() = map_tensors(stack->back(), own);
  }
};

class OnCopy : CallsAnother {
 public:
  using CallsAnother::CallsAnother;
  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    IValue& self = (*stack)[stack->size() - op.schema().arguments.size()];
    self = clone(self.to_tensor());
    call(stack);
  }
};

}  // namespace

void define_view_copy(Library& m, std::string_view view_schema, std::string_view callee,
                      SourceLocation where) {
  const FunctionSchema view = parse_schema(view_schema);
  const FunctionSchema schema = functional_schema(view, view.name.name + "_copy");
  // As PyTorch, where one of these writes its parts as copy_ does.
  const bool keep_shape = view.name.to_string() == "aten::split.Tensor";
  const OperatorHandle op = define_with_out(
      m, schema, Tag::view_copy, {.structured = !keep_shape, .keep_shape = keep_shape}, where);
  // A backend that has functional operators only must not find a kernel made of views.
  m.impl(op, DispatchKey::CompositeExplicitAutogradNonFunctional,
         ViewCopy(m.dispatcher(), callee.empty() ? view.name.to_string() : std::string(callee)),
         where);
}

void define_functional_form(Library& m, std::string_view inplace_schema, SourceLocation where) {
  const FunctionSchema inplace = parse_schema(inplace_schema);
  std::string name = inplace.name.name;
  name.pop_back();  // the underscore
  const OperatorHandle op =
      define_with_out(m, functional_schema(inplace, std::move(name)), {}, {}, where);
  m.impl(op, DispatchKey::CompositeExplicitAutograd,
         OnCopy(m.dispatcher(), inplace.name.to_string()), where);
}

}  // namespace sb
