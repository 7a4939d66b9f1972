// The error of a call that finds no kernel: why the call came there, what would mend it, and what
// is registered instead.

#ifndef SWITCHBOARD_DISPATCH_NO_KERNEL_H_
#define SWITCHBOARD_DISPATCH_NO_KERNEL_H_

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

// Throws the error of a call that arrived with `keys` at a slot without a kernel:
// NotImplementedError, or RuntimeError where the slot is ambiguous. The stack holds its arguments.
//
//   demo::f: no kernel for CUDA (argument 0 'x' is on cuda:0); register one at CUDA or
//   CompositeExplicitAutograd
//   registered: CPU (ops/f.cc:31), Meta (ops/f.cc:32)
//
// The first of these is one line.
[[noreturn, gnu::cold]] void throw_no_kernel(const OperatorEntry& entry, DispatchKeySet keys,
                                             const Stack& stack);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_NO_KERNEL_H_
