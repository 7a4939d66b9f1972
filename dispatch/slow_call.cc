#include "switchboard/dispatch/slow_call.h"

#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/no_kernel.h"

namespace sb::internal {

void run_boxed(OperatorEntry* entry, const Kernel& kernel, DispatchKeySet keys, Stack* stack) {
  if (stack->size() < entry->num_arguments()) entry->throw_short_stack(*stack);
  if (!kernel) throw_no_kernel(*entry, keys, *stack);
  ObservedCall observed(entry, keys, kernel);
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
  const IValue* value = stack.data() + (stack.size() - schema.arguments.size());
  std::vector<IValue> positional;
  std::vector<std::pair<std::string, IValue>> keyword;
  for (const Argument& argument : schema.arguments) {
    if (argument.kwarg_only)
      keyword.emplace_back(argument.name, *value++);
    else
      positional.push_back(*value++);
  }
  bind_arguments(schema, std::move(positional), std::move(keyword));
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

SlowTarget slow_target(OperatorEntry* entry, DispatchKeySet arguments) {
  const DispatchTable& table = entry->resolved_table();
  const DispatchKeySet keys = table.call_keys(arguments) - DispatchKey::Observed;
  return {table[keys], keys};
}

OperatorEntry* bind_typed_op(std::string_view name, const CppSignature& signature,
                             std::atomic<TableHolder*>* holder) {
  TableHolder* const held = holder->load(std::memory_order_acquire);
  if (held != &unbound_op) {
    OperatorEntry* const entry = static_cast<OperatorEntry*>(held);
    if (!entry->dead()) return entry;
  }
  const OperatorHandle op = default_dispatcher().find_op_or_throw(name);
  op.entry().check_signature(signature);
  holder->store(&op.entry(), std::memory_order_release);
  return &op.entry();
}

}  // namespace sb::internal
