// Recursion that no thread's stack is large enough for.

#ifndef SWITCHBOARD_AUTOGRAD_DEEP_STACK_H_
#define SWITCHBOARD_AUTOGRAD_DEEP_STACK_H_

#include "absl/functional/function_ref.h"

namespace sb::internal {

// Calls f on a stack of its own of 8 MiB, of which only what is used takes memory. It is still this
// thread that runs: its variables, modes and guards are there, which another thread would have to
// be given. Exceptions pass through. Throws RuntimeError where there is no memory for a stack.
void run_on_new_stack(absl::FunctionRef<void()> f);

}  // namespace sb::internal

#endif  // SWITCHBOARD_AUTOGRAD_DEEP_STACK_H_
