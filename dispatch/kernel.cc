#include "switchboard/dispatch/kernel.h"

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb {
namespace {

void enter_fallthrough(const Kernel&, const OperatorHandle& op, DispatchKeySet keys, Stack*) {
  SB_THROW(RuntimeError, op.name().to_string(), ": entered at ", to_string(keys.highest_key()),
           ", which holds a fallthrough: a redispatch must mask the keys that it passes over");
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
