// What happens to operators that the device has no kernel for.

#ifndef SWITCHBOARD_DEVICES_DUMMY_CPU_FALLBACK_H_
#define SWITCHBOARD_DEVICES_DUMMY_CPU_FALLBACK_H_

#include <utility>

#include "switchboard/dispatch/library.h"

namespace sb::dummy {

// Runs the operator on the CPU, as sb::cpu_fallback.
void cpu_fallback(const OperatorHandle& op, DispatchKeySet keys, Stack* stack);

// The same from a typed kernel that does not serve these arguments: every argument of the schema,
// one tensor back.
template <class Tag, class... A>
Tensor fall_back(const Op<Tag>& op, const A&... arguments) {
  Stack stack;
  stack.reserve(sizeof...(A));
  (stack.emplace_back(arguments), ...);
  cpu_fallback(op.handle(), DispatchKeySet(), &stack);
  return std::move(stack.back()).to_tensor();
}

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_CPU_FALLBACK_H_
