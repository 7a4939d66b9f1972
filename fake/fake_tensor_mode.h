// What would happen? Tensors that have a device and no data, and the mode that runs programs on
// them.

#ifndef SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_
#define SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_

#include <optional>

#include "switchboard/core/allocator.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/mode.h"

namespace sb {

namespace internal {
class FakeMode;
}

struct FakeTensorOptions {
  // Real tensors among the arguments are converted; otherwise they are refused. Numbers that were
  // made tensors (x + 1) are always converted.
  bool allow_non_fake_inputs = false;
};

// As `FakeTensorMode`: while it is active on a thread, operators make fake tensors. These carry a
// device that need not exist here, run shape rules only and hold no data; every program that does
// not look at data runs on them as on the real device, layered kernels (autograd, autocast)
// included. Calls on fake tensors reach their mode whether it is active or not.
//
//   FakeTensorMode fake;
//   Tensor x = fake.from_tensor(real, Device("cuda:0"));
//   Tensor y = sb::relu(x);          // only the shape rule runs; y.device() is cuda:0
//
// A handle: fake tensors keep what they need of the mode alive. One mode is used by one thread at a
// time.
class FakeTensorMode {
 public:
  explicit FakeTensorMode(FakeTensorOptions options = {});
  FakeTensorMode(const FakeTensorMode& other);
  FakeTensorMode& operator=(const FakeTensorMode& other);
  ~FakeTensorMode();

  // The fake of a real tensor, on its own device or on another one. The same tensor gives the same
  // fake, and views of one storage stay views of one fake storage, as long as they live. An
  // accelerator without index becomes its device 0. Throws RuntimeError for a tensor that is fake
  // already and of another mode, and ValueError for the meta device.
  Tensor from_tensor(const Tensor& real, std::optional<Device> device = std::nullopt);

  // The mode itself, to activate: ModeGuard guard(fake.mode()).
  DispatchMode* mode() const;

  // Bytes that the storages of the mode's tensors would take on their devices, now and at most.
  AllocationStats& memory() const;

 private:
  IntrusivePtr<internal::FakeMode> impl_;
};

// Activates a fake mode on this thread for a scope.
class FakeTensorModeGuard {
 public:
  explicit FakeTensorModeGuard(const FakeTensorMode& mode) : guard_(mode.mode()) {}

 private:
  ModeGuard guard_;
};

// Whether the tensor belongs to some fake mode.
bool is_fake(const Tensor& tensor);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_
