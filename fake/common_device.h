// The device of a call's results: the one that its tensor arguments agree on.

#ifndef SWITCHBOARD_FAKE_COMMON_DEVICE_H_
#define SWITCHBOARD_FAKE_COMMON_DEVICE_H_

#include <optional>

#include "switchboard/core/device.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// As `FakeTensor._find_common_device`: the first tensor leads; equal devices agree, and an equal
// tensor with dimensions makes a 0-dim CPU leader firm; a later 0-dim CPU tensor yields; a 0-dim
// CPU leader is overridden. nullopt without tensor arguments. Throws RuntimeError that shows which
// argument brought which device when two devices are left.
std::optional<Device> common_device(const OperatorHandle& op, const Stack& stack);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_COMMON_DEVICE_H_
