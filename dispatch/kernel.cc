#include "switchboard/dispatch/kernel.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"

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

}  // namespace

bool Kernel::is_fallthrough() const { return boxed == &enter_fallthrough; }

std::string to_string(const SourceLocation& where) {
  return str_cat(where.file_name(), ":", where.line());
}

KernelFunction make_fallthrough_kernel() {
  KernelFunction kernel;
  kernel.entries.boxed = &enter_fallthrough;
  return kernel;
}

}  // namespace sb
