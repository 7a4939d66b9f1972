#include "switchboard/transforms/functionalization/functionalization.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/graph/memory_operators.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functional_form.h"
#include "switchboard/transforms/functionalization/functional_write.h"
#include "switchboard/transforms/functionalization/memory_shape.h"
#include "switchboard/transforms/functionalization/view_inverse.h"

namespace sb {
bool FunctionalizeContext::owns(const Tensor& tensor) const {
  const FunctionalTensorImpl* const impl = functional_impl(tensor);
  return impl && impl->owner() == owner_;
}

bool FunctionalizeContext::captured(const Tensor& tensor) const {
  const FunctionalTensorImpl* const impl = functional_impl(tensor);
  return impl && internal::is_captured(*impl, owner_);
}

void FunctionalizeContext::check_reach(const OperatorHandle& op, const FunctionalTensorImpl& viewed,
                                       const Tensor& value) const {
  if (inputs_) inputs_->check_reach(op.name().to_string(), viewed, value);
}

Tensor FunctionalizeContext::wrap(const Tensor& value) const {
  if (!value.defined()) return value;
  SB_CHECK(value.storage(), "functionalize: ", value.describe(), " has no storage");
  return internal::functional_of_result(value, owner_);
}

Tensor FunctionalizeContext::unwrap(const Tensor& tensor) const {
  if (!tensor.defined()) return tensor;
  if (captured(tensor)) {
    const Tensor value = [&] {
      BelowFunctionalization below(owner_);
      return functional_impl(tensor)->captured_value();
    }();
    internal::check_captured_gradient(tensor, value);
    return value;
  }
  if (owns(tensor)) return from_functional_tensor(tensor);
  SB_CHECK(!tensor.key_set().has(DispatchKey::Functionalize) || is_functional_tensor(tensor),
           "functionalization: ", tensor.describe(),
           " has the Functionalize key, and is not a functional tensor");
  if (inputs_ && inputs_->knows(tensor)) return from_functional_tensor(inputs_->wrap(tensor));
  return tensor;
}

IValue FunctionalizeContext::wrap(const IValue& value) const {
  return map_tensors(value, [&](const Tensor& t) {
    const Tensor functional = wrap(t);
    if (internal::grad_hooks->requires_grad(t)) {
      internal::grad_hooks->stop_gradient(
          functional,
          "functionalize: backward, run inside of the program, comes to an operator that has a "
          "rule of its own for functionalisation, and does not go on; run backward outside");
    }
    return functional;
  });
}

IValue FunctionalizeContext::unwrap(const IValue& value) const {
  return map_tensors(value, [&](const Tensor& t) { return unwrap(t); });
}

void FunctionalizeContext::redispatch(const OperatorHandle& op, Stack* stack) const {
  BelowFunctionalization below(owner_);
  op.call_boxed(stack);
}

void FunctionalizeContext::redispatch(const std::function<void()>& call) const {
  BelowFunctionalization below(owner_);
  call();
}

Tensor FunctionalizeContext::functional(const Tensor& tensor) const {
  if (!tensor.defined() || owns(tensor) || captured(tensor)) return tensor;
  if (inputs_ && !tensor.impl()->is_wrapped_number()) return inputs_->wrap(tensor);
  return wrap(tensor);
}

Tensor FunctionalizeContext::functional_for_write(const OperatorHandle& op, size_t argument,
                                                  const Tensor& t) const {
  SB_CHECK_NOT_IMPLEMENTED(!t.defined() || !captured(t), op.name().to_string(), ": argument ",
                           argument, " '", op.schema().arguments[argument].name,
                           "': a function that an operator takes writes to a tensor that it has "
                           "captured, ",
                           t.describe(), "; under functionalization it must write to a clone");
  SB_CHECK(!t.defined() || owns(t) || inputs_, op.name().to_string(), ": argument ", argument, " '",
           op.schema().arguments[argument].name,
           "': expected a functional tensor, as other arguments are, got a plain one, ",
           t.describe(), "; a write to it would be lost");
  return functional(t);
}

namespace internal {
void check_no_transform(std::string_view who) {
  SB_CHECK_NOT_IMPLEMENTED(!current_transform(), who, ": inside of ", current_transform()->name(),
                           "; functionalise the program with the transform in it");
}

bool passes_by_autograd(const OperatorHandle& op) {
  const Kernel& kernel = op.entry().resolved_table().slots[slot_of(DispatchKey::AutogradCPU)];
  return kernel.is_fallthrough() || kernel.is_autograd_fallback();
}

namespace {

// The arguments of a call, off the stack.
std::vector<IValue> take_arguments(const OperatorHandle& op, Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.entry().num_arguments());
  std::vector<IValue> arguments(std::make_move_iterator(first),
                                std::make_move_iterator(stack->end()));
  stack->erase(first, stack->end());
  return arguments;
}

void put_results(std::vector<IValue> results, Stack* stack) {
  for (IValue& result : results) stack->push_back(std::move(result));
}

// A call, which writes to nothing, below; its arguments were functional.
class ValueCall {
 public:
  ValueCall(const FunctionalizeContext& context, const std::vector<IValue>& arguments)
      : context_(context) {
    for (const IValue& argument : arguments) {
      values.push_back(map_tensors(argument, [&](const Tensor& t) {
        const Tensor value = context.unwrap(t);
        given_.push_back({value, t});
        return value;
      }));
    }
  }

  // An argument that the operator returned as it was, as a functional tensor; undefined if the
  // result is none of them.
  Tensor find_argument(const Tensor& result) const {
    for (const auto& [value, argument] : given_)
      if (value.is_same(result)) return context_.functional(argument);
    return Tensor();
  }

  std::vector<IValue> values;

 private:
  const FunctionalizeContext& context_;
  std::vector<std::pair<Tensor, Tensor>> given_;
};

// The one argument that a view operator's results may share memory with; nullopt for an operator
// that gives no views, as its schema says.
std::optional<size_t> viewed_argument(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  std::optional<size_t> viewed;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (!schema.arguments[i].alias) continue;
    SB_CHECK_NOT_IMPLEMENTED(!viewed && !schema.arguments[i].type.is_list(), op.name().to_string(),
                             ": a view of several tensors cannot be functionalised");
    viewed = i;
  }
  return viewed;
}

// Whether the argument is a tensor on whose memory the result lies.
bool is_on_memory_of(const IValue& value, const Tensor& result) {
  return value.is_Tensor() && value.to_tensor().defined() && result.defined() &&
         value.to_tensor().storage() == result.storage();
}

// Whether the view is one of the memory, whatever part of it the viewed tensor has; or cannot be
// made again of another value, as it has its memory from a further argument, too.
bool looks_at_memory(const ViewStep& step, const Tensor& value) {
  return step.op == as_strided.handle() || step.op == _reshape_alias.handle() ||
         std::ranges::any_of(step.arguments,
                             [&](const IValue& other) { return is_on_memory_of(other, value); });
}

bool have_one_form(const FunctionalTensorImpl& viewed, const Tensor& value) {
  const Tensor& last = viewed.last_value();
  return last.dtype() == value.dtype() && last.key_set() == value.key_set() &&
         lie_alike(last, value);
}

}  // namespace

ViewOfStorage view_of(const FunctionalTensorImpl& viewed, ViewStep step, const Tensor& value) {
  if (looks_at_memory(step, value) || reaches_beyond(step.op, viewed.last_value(), value)) {
    return {viewed.chain_of(value.sym_sizes(), value.sym_strides(), value.sym_storage_offset()),
            viewed.lineage()};
  }
  // Autograd does not see writes to views that are not differentiable, and views of the same form
  // are what was viewed, with a history of their own.
  const bool apart = step.op == detach.handle() || passes_by_autograd(step.op);
  const auto add_lineage = [&] {
    const BelowFunctionalization below(viewed.owner());
    return viewed.functional_storage()->add_lineage();
  };
  ViewChain chain = viewed.chain();
  if (!apart || !have_one_form(viewed, value)) chain.push_back(std::move(step));
  return {std::move(chain), apart ? add_lineage() : viewed.lineage()};
}

namespace {

// A view that no schema speaks of, as _unsafe_view's: autograd takes it for a tensor of its own.
ViewOfStorage hidden_view_of(const FunctionalTensorImpl& viewed, ViewStep step,
                             const Tensor& value) {
  const DType dtype = viewed.last_value().dtype();
  SB_CHECK_NOT_IMPLEMENTED(dtype == value.dtype(), step.op.name().to_string(),
                           ": functionalize: gives a view of another dtype, which its schema does "
                           "not declare: ",
                           value.describe(), " on the memory of ", viewed.last_value().describe(),
                           "; use view.dtype");
  ViewOfStorage view = view_of(viewed, std::move(step), value);
  if (view.lineage != viewed.lineage() || !grad_hooks->requires_grad(value)) return view;
  const BelowFunctionalization below(viewed.owner());
  const GradScope grad(true);
  FunctionalStorage& storage = *viewed.functional_storage();
  storage.apply_updates();
  view.lineage = storage.add_lineage(/*hidden=*/true);
  storage.set_history(view.lineage, view.chain, value);
  return view;
}

// NotImplementedError where an object would be given a value that does not know the gradient of the
// program's tensor: whoever takes it out again would get none.
void check_object_keeps_history(const OperatorHandle& op, const std::vector<IValue>& arguments,
                                const std::vector<IValue>& values) {
  if (!grad_hooks->is_grad_enabled()) return;
  const auto may_keep = [](const IValue& v) { return v.is_Object() && !constant_object(v); };
  if (std::ranges::none_of(arguments, may_keep)) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_Tensor()) continue;
    const Tensor t = arguments[i].to_tensor();
    SB_CHECK_NOT_IMPLEMENTED(!t.defined() || !grad_hooks->requires_grad(t) ||
                                 grad_hooks->requires_grad(values[i].to_tensor()),
                             op.name().to_string(), ": functionalize: an object would keep ",
                             t.describe(),
                             " without its gradient, which is that of a leaf that the program has "
                             "made; run backward outside of the program");
  }
}

// A value that requires a gradient, though no argument does, comes from what is no tensor: an
// object that holds it. The program's history of it is not known.
Tensor wrap_result(const FunctionalizeContext& context, const OperatorHandle& op,
                   const Tensor& value, bool needs_grad) {
  const Tensor functional = context.wrap(value);
  if (!needs_grad && grad_hooks->is_grad_enabled() && grad_hooks->requires_grad(value)) {
    grad_hooks->stop_gradient(
        functional,
        str_cat(op.name().to_string(),
                ": functionalize: backward, run inside of the program, comes to a "
                "tensor that an object held, and does not go on; run backward outside"));
  }
  return functional;
}

// NotImplementedError where a function looks beyond the memory of its argument: a trace has given
// it a copy of the argument alone.
void check_memory(const OperatorHandle& op, const std::vector<IValue>& arguments) {
  if (running_function().empty() || op != as_strided.handle()) return;
  const Tensor& self = arguments[0].unchecked_tensor();
  const FunctionalTensorImpl* const impl = functional_impl(self);
  SB_CHECK_NOT_IMPLEMENTED(
      !get_mode(ModeKey::Proxy) || !impl || !impl->functional_storage()->has_gaps(),
      running_function(), ": under functionalization: aten::as_strided looks at the memory of ",
      self.describe(), ", which need not lie so in a graph; give the operator contiguous tensors");
  const SymIntArrayRef sizes = arguments[1].to_sym_int_list(),
                       strides = arguments[2].to_sym_int_list();
  if (sizes.size() != strides.size()) return;
  const SymInt offset =
      arguments[3].is_None() ? self.sym_storage_offset() : arguments[3].to_sym_int();
  const SymInt reach = reach_of(sizes, strides, offset) * static_cast<int64_t>(self.itemsize());
  SB_CHECK_NOT_IMPLEMENTED(
      asked_or_false(reach <= MemoryShape(self).bytes), running_function(),
      ": under functionalization: aten::as_strided looks beyond the memory of ", self.describe());
}

// A call that writes to nothing. Its results may be views, of an argument that the schema says or,
// as those of _unsafe_view, of another.
void call_reading(const FunctionalizeContext& context, const OperatorHandle& op, Stack* stack) {
  std::vector<IValue> arguments = take_arguments(op, stack);
  const std::optional<size_t> declared = viewed_argument(op);
  SB_CHECK_NOT_IMPLEMENTED(!declared || !has_ordered_effect(op), op.name().to_string(),
                           ": the operator has an effect and gives a view, which functionalisation "
                           "makes again whenever the viewed memory is written to");
  if (declared && arguments[*declared].is_Tensor())
    arguments[*declared] = context.functional(arguments[*declared].to_tensor());
  check_memory(op, arguments);
  ValueCall call(context, arguments);
  check_object_keeps_history(op, arguments, call.values);
  Stack results = call.values;
  context.redispatch(op, &results);
  bool needs_grad = false;
  for (const IValue& argument : arguments)
    argument.for_each_tensor([&](const Tensor& t) {
      needs_grad = needs_grad || (t.defined() && grad_hooks->requires_grad(t));
    });
  size_t output = 0;
  for (IValue& r : results) {
    r = map_tensors(r, [&](const Tensor& result) {
      const size_t index = output++;
      const Tensor argument = call.find_argument(result);
      if (argument.defined()) return argument;
      size_t viewed = declared.value_or(0);
      if (!declared)
        while (viewed < call.values.size() && !is_on_memory_of(call.values[viewed], result))
          ++viewed;
      if (viewed >= call.values.size() || !is_on_memory_of(call.values[viewed], result))
        return wrap_result(context, op, result, needs_grad);
      const Tensor of = context.functional(arguments[viewed].to_tensor());
      FunctionalTensorImpl* const base = functional_impl(of);
      ViewStep step{op, call.values, viewed, index};
      step.arguments[viewed] = IValue();
      if (looks_at_memory(step, result) || reaches_beyond(op, base->last_value(), result))
        context.check_reach(op, *base, result);
      auto [chain, lineage] = declared ? view_of(*base, std::move(step), result)
                                       : hidden_view_of(*base, std::move(step), result);
      auto view = make_intrusive<FunctionalTensorImpl>(base->functional_storage(), lineage,
                                                       std::move(chain), result, base->owner());
      view->share_version_counter(*base);
      return Tensor(std::move(view));
    });
  }
  put_results(std::move(results), stack);
}

}  // namespace

namespace {

// NotImplementedError where the program looks at memory that lies otherwise in the graph that is
// traced below.
void check_layouts(const OperatorHandle& op, const Stack& stack) {
  const auto* const trace = dynamic_cast<const TracingMode*>(get_mode(ModeKey::Proxy));
  if (!trace || !sb::internal::looks_at_memory(op)) return;
  for (const IValue& argument : absl::MakeConstSpan(stack).last(op.entry().num_arguments())) {
    argument.for_each_tensor([&](const Tensor& t) {
      const FunctionalTensorImpl* const impl = functional_impl(t);
      const TraceAssumptions::OtherLayout* const layout =
          impl ? trace->find_other_layout(impl->last_value()) : nullptr;
      SB_CHECK_NOT_IMPLEMENTED(!layout, op.name().to_string(),
                               ": functionalize: under TracingMode: ", layout->who,
                               " carries tensors that a graph has contiguous, and this looks at "
                               "the memory of what is computed of them; carry contiguous ones");
    });
  }
}

}  // namespace

void functionalize_call(const FunctionalizeContext& context, const OperatorHandle& op,
                        Stack* stack) {
  check_layouts(op, *stack);
  if (op.schema().is_mutable()) {
    put_results(call_writing(context, op, take_arguments(op, stack)), stack);
  } else {
    call_reading(context, op, stack);
  }
}

void explain_functionalized(CallPath& path, const FunctionalizeContext& context,
                            const PathCall& call) {
  // What a call below is given. Values that are not up to date are not made so; lazy bits that were
  // resolved on the way here are gone.
  const DispatchKeySet gone =
      DispatchKeySet{DispatchKey::Conjugate, DispatchKey::Negative} - call.keys;
  const auto value_of = [&](const IValue& argument) {
    return map_tensors(argument, [&](const Tensor& t) {
      if (!context.owns(t) && !context.captured(t)) return t;
      const Tensor& value = functional_impl(t)->last_value();
      if (!value.key_set().has_any(gone)) return value;
      Tensor resolved(value.impl()->shallow_copy());
      resolved.impl()->set_key_set(value.key_set() - gone);
      return resolved;
    });
  };
  const size_t first = call.arguments.size() - call.op.entry().num_arguments();
  const BelowFunctionalization below(context.owner());
  if (!call.op.schema().is_mutable()) {
    Stack values;
    for (size_t i = first; i < call.arguments.size(); ++i)
      values.push_back(value_of(call.arguments[i]));
    return path.call(call.op, values);
  }
  explain_writing(path, call.op, [&](size_t i) { return value_of(call.arguments[first + i]); });
}

void call_composite(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  op.redispatch_boxed(runtime_key(DispatchKey::Dense, keys.highest_backend()), stack);
}

}  // namespace internal
}  // namespace sb
