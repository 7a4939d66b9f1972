#include "switchboard/dispatch/kernel.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/no_kernel.h"

namespace sb {
namespace {

void enter_fallthrough(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack*) {
  const OperatorEntry& entry = op.entry();
  const DispatchKey key = keys.highest_key();
  // The one that was entered may be gone by now; then no place is told.
  const std::string place = entry.dispatcher().inspect([&] {
    const RegisteredKernel* const kernel = entry.resolve(key).kernel;
    return kernel ? str_cat("\nfallthrough: ", to_string(kernel->where)) : std::string();
  });
  SB_THROW(RuntimeError, entry.name().to_string(), ": entered at ", to_string(key),
           ", which holds a fallthrough; a redispatch masks the keys that it passes over", place);
}

void enter_autograd_fallback(const Kernel&, const OperatorHandle& op, DispatchKeySet keys,
                             Stack* stack) {
  op.redispatch_boxed(keys & DispatchKeySet::below(DispatchKey::AutogradOther), stack);
}

void enter_refusal(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  internal::throw_no_kernel(op.entry(), keys, *stack);
}

}  // namespace

bool Kernel::is_fallthrough() const { return boxed == &enter_fallthrough; }
bool Kernel::is_autograd_fallback() const { return boxed == &enter_autograd_fallback; }
bool Kernel::is_refusal() const { return boxed == &enter_refusal; }

std::string to_string(const SourceLocation& where) {
  return str_cat(where.file_name(), ":", where.line());
}

KernelFunction make_fallthrough_kernel() { return {{nullptr, &enter_fallthrough}, nullptr}; }
KernelFunction make_autograd_fallback() { return {{nullptr, &enter_autograd_fallback}, nullptr}; }
KernelFunction make_refusal() { return {{nullptr, &enter_refusal}, nullptr}; }

bool is_passed_over(const Kernel& kernel, DispatchKey key, const Kernel& at_autograd_other) {
  if (kernel.is_fallthrough()) return true;
  if (!kernel.is_autograd_fallback()) return false;
  // That of a backend goes below AutogradOther too, where the operator may have a kernel.
  return key == DispatchKey::AutogradOther || at_autograd_other.is_fallthrough() ||
         at_autograd_other.is_autograd_fallback();
}

}  // namespace sb
