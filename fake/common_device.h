// The device of a call's results: the one that its tensor arguments agree on.

#ifndef SWITCHBOARD_FAKE_COMMON_DEVICE_H_
#define SWITCHBOARD_FAKE_COMMON_DEVICE_H_

#include <optional>

#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

// As `FakeTensor._find_common_device`: the first tensor leads; equal devices agree, and an equal
// tensor with dimensions makes a 0-dim CPU leader firm; a later 0-dim CPU tensor yields; a 0-dim
// CPU leader is overridden. Two devices that are left disagree.
class CommonDevice {
 public:
  void add(const Tensor& t) {
    const Device device = t.device();
    if (!found_) {
      found_ = true;
      device_ = device;
      leader_yields_ = t.dim() == 0 && device.is_cpu();
    } else if (device == device_) {
      if (leader_yields_) leader_yields_ = t.dim() == 0;
    } else if (t.dim() == 0 && device.is_cpu()) {
      return;
    } else if (leader_yields_) {
      device_ = device;
      leader_yields_ = false;
    } else {
      disagrees_ = true;
    }
  }

  bool disagrees() const { return disagrees_; }
  // nullopt without tensors.
  std::optional<Device> device() const { return found_ ? std::optional(device_) : std::nullopt; }

 private:
  bool found_ = false;
  bool leader_yields_ = false;  // the leader is a 0-dim CPU tensor
  bool disagrees_ = false;
  Device device_;
};

// RuntimeError that shows which argument brought which device.
[[noreturn, gnu::cold]] void throw_devices_disagree(const OperatorHandle& op,
                                                    absl::Span<const IValue> arguments);

// The common device of the arguments on the end of the stack; nullopt without tensors. Throws as
// above.
std::optional<Device> common_device(const OperatorHandle& op, const Stack& stack);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_COMMON_DEVICE_H_
