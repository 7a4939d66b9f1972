#include "switchboard/dispatch/slow_call.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/no_kernel.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/spare_stack.h"
#include "switchboard/dispatch/values/coerce_argument.h"
#include "switchboard/dispatch/values/observed_values.h"
#include "switchboard/dispatch/visit_tensors.h"

namespace sb::internal {

void run_boxed(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys, Stack* stack) {
  if (stack->size() < entry->num_arguments()) entry->throw_short_stack(*stack);
  if (!kernel) throw_no_kernel(*entry, keys, *stack);
  if (!dispatch_tls.observer && !entry->dispatcher().observer()) [[likely]]
    return run_unobserved(entry, kernel, keys, stack);
  const ShowValues values(stack);
  const ObservedCall observed(entry, keys, kernel);
  run_unobserved(entry, kernel, keys, stack);
}

void throw_wrong_returns(const OperatorEntry& entry, int64_t left) {
  SB_THROW(RuntimeError, entry.name().to_string(), ": a boxed kernel left ", left,
           " values on the stack, expected ", entry.num_returns(),
           "; it takes its arguments off and puts its results there\nschema: ",
           entry.describe_schema(), "\nregistered: ", entry.dispatcher().describe_kernels(entry));
}

void throw_if_misfit(const OperatorEntry& entry, const Stack& stack) {
  if (entry.dead()) return;
  const FunctionSchema& schema = entry.schema();
  const IValue* const values = stack.data() + (stack.size() - schema.arguments.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) check_stacked(schema, i, values[i]);
}

ObservedCall::ObservedCall(OperatorEntry* entry, DispatchKeySet keys, const Kernel& kernel)
    : of_all_(entry->dispatcher().observer()),
      of_thread_(dispatch_tls.observer),
      entry_(entry),
      keys_(keys) {
  if (of_all_) of_all_->enter(*entry_, keys_, kernel);
  if (!of_thread_) return;
  try {
    of_thread_->enter(*entry_, keys_, kernel);
  } catch (...) {
    if (of_all_) of_all_->leave(*entry_, keys_);
    throw;
  }
}

ObservedCall::~ObservedCall() {
  if (of_thread_) of_thread_->leave(*entry_, keys_);
  if (of_all_) of_all_->leave(*entry_, keys_);
}

namespace {

DispatchKeySet keys_of_arguments(const TypedFrame& frame) {
  DispatchKeySet keys;
  const CallDescription& call = frame.description;
  for_each_argument(call.tensors, [&](size_t i) {
    keys |= static_cast<const Tensor*>(frame.arguments[i])->key_set();
  });
  for_each_argument(call.other_tensors, [&](size_t i) {
    with_argument(call.types->arguments[i], frame.arguments[i],
                  [&](const auto& argument) { keys |= keys_in(argument); });
  });
  return keys;
}

[[gnu::noinline]] void call_by_stack(OperatorEntry& entry, const Kernel& kernel,
                                     DispatchKeySet keys, const TypedFrame& frame) {
  const CppSignature& types = *frame.description.types;
  const SpareStack stack;
  for (size_t i = 0; i < types.arguments.size(); ++i) {
    if (types.arguments[i] == SB_T(Tensor)) [[likely]]
      stack.get()->emplace_back(*static_cast<const Tensor*>(frame.arguments[i]));
    else
      stack.get()->push_back(box_argument(types.arguments[i], frame.arguments[i]));
  }
  run_boxed(&entry, kernel, keys, stack.get());
  if (frame.description.returns_tensor) [[likely]]
    *static_cast<Tensor*>(frame.result) = std::move(stack.get()->back()).to_tensor();
  else
    unbox_results(types.returns, stack.get(), frame.results);
}

}  // namespace

void call_slow(OperatorEntry& entry, const DispatchKeySet* redispatch, const TypedFrame& frame) {
  const DispatchTable& table = entry.resolved_table();
  const DispatchKeySet keys =
      redispatch ? *redispatch : table.call_keys(keys_of_arguments(frame)) - DispatchKey::Observed;
  const Kernel& kernel = table[keys];
  if (kernel.unboxed) {
    const ShowValues values(frame);
    const ObservedCall observed(&entry, keys, kernel);
    return frame.enter(kernel, keys);
  }
  if (kernel.state && kernel.state->take_typed_call(entry, keys, frame)) return;
  call_by_stack(entry, kernel, keys, frame);
}

OperatorEntry* bind_typed_op(std::string_view name, const CppSignature& signature,
                             std::atomic<TableHolder*>* holder) {
  const OperatorHandle op = default_dispatcher().find_op_or_throw(name);
  op.entry().check_signature(signature);
  holder->store(&op.entry(), std::memory_order_release);
  return &op.entry();
}

}  // namespace sb::internal
