// Where calls with fake stand-ins leave the way to kernels.

#ifndef SWITCHBOARD_DISPATCH_VALUES_STAND_INS_H_
#define SWITCHBOARD_DISPATCH_VALUES_STAND_INS_H_

#include <atomic>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {
class OperatorHandle;
}  // namespace sb

namespace sb::internal {

// Handles a boxed call in place of kernels, at exactly `keys` or where these are null at those of
// the arguments; false, with the stack as it was, if no argument is a stand-in.
using StandInCall = bool (*)(const OperatorHandle& op, const DispatchKeySet* keys, Stack* stack);
// Null until the program makes its first stand-in (objects/fake_object.h).
inline constinit std::atomic<StandInCall> stand_in_call{nullptr};

// Every boxed redispatch asks this, and every call of an operator that takes objects.
inline bool call_stand_ins(const OperatorHandle& op, const DispatchKeySet* keys, Stack* stack) {
  const StandInCall call = stand_in_call.load(std::memory_order_relaxed);
  return __builtin_expect(call != nullptr, 0) && call(op, keys, stack);
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_VALUES_STAND_INS_H_
