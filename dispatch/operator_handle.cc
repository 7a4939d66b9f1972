#include "switchboard/dispatch/operator_handle.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/dispatch/values/stand_ins.h"

namespace sb {

const OperatorName& OperatorHandle::name() const { return entry_->name(); }
const FunctionSchema& OperatorHandle::schema() const { return entry_->schema(); }

void OperatorHandle::call_boxed(Stack* stack) const {
  internal::CallPin pin;
  const DispatchTable* table = &entry_->table();
  DispatchKeySet keys = table->call_keys(entry_->argument_keys(*stack));
  const Kernel& kernel = (*table)[keys];
  if (__builtin_expect(kernel.boxed != nullptr, 1))
    return internal::run_unobserved(entry_, kernel, keys, stack);
  // No table for fast calls, an observed thread, or no kernel.
  if (internal::call_stand_ins(*this, nullptr, stack)) return;
  table = &entry_->resolved_table();
  keys = table->call_keys(entry_->argument_keys(*stack)) - DispatchKey::Observed;
  internal::run_boxed(entry_, (*table)[keys], keys, stack);
}

void OperatorHandle::redispatch_boxed(DispatchKeySet keys, Stack* stack) const {
  if (internal::call_stand_ins(*this, &keys, stack)) return;
  internal::CallPin pin;
  internal::run_boxed(entry_, entry_->resolved_table()[keys], keys, stack);
}

Arguments OperatorHandle::call(std::vector<IValue> positional,
                               std::vector<std::pair<std::string, IValue>> keyword) const {
  Stack stack = bind_arguments(schema(), std::move(positional), std::move(keyword));
  call_boxed(&stack);
  return stack;
}

}  // namespace sb
