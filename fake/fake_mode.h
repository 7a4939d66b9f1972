// The mode behind FakeTensorMode.

#ifndef SWITCHBOARD_FAKE_FAKE_MODE_H_
#define SWITCHBOARD_FAKE_FAKE_MODE_H_

#include <optional>
#include <string>

#include "switchboard/dispatch/mode.h"
#include "switchboard/fake/fake_converter.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/kernel_invocation.h"

namespace sb::internal {

// What a fake tensor knows: its mode. One object for all tensors of a mode.
class FakeTensorData final : public ModeData {
 public:
  explicit FakeTensorData(IntrusivePtr<FakeMode> mode);
  ~FakeTensorData() override;
  DispatchMode& mode() const override;

 protected:
  void release_resources() override;  // the mode has a weak reference to this

 private:
  IntrusivePtr<FakeMode> mode_;
};

class FakeMode final : public DispatchMode, public IntrusiveTarget {
 public:
  explicit FakeMode(FakeTensorOptions options);

  // In order: real arguments are converted or refused; a CompositeImplicitAutograd kernel runs with
  // the mode active, so that what it calls comes back here; for any other the common device is
  // found, a `device` argument takes its place, the arguments are plain meta tensors while the Meta
  // slot's kernel runs, and what it gives takes the device.
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "FakeTensorMode"; }
  std::optional<ModeKey> mode_key() const override { return ModeKey::Fake; }

  Tensor from_tensor(const Tensor& real, std::optional<Device> device);
  AllocationStats& memory() { return allocator_->stats(); }

 private:
  bool owns(const Tensor& tensor) const;
  IntrusivePtr<ModeData> data();
  void convert_arguments(const OperatorHandle& op, Stack* stack);
  Tensor convert_argument(const OperatorHandle& op, size_t index, const Tensor& tensor);
  void wrap_result(const OperatorHandle& op, const Tensor& result, Device device,
                   const KernelInvocation& invocation);

  FakeTensorOptions options_;
  IntrusivePtr<FakeAllocator> allocator_;
  FakeConverter converter_;
  WeakIntrusivePtr<ModeData> data_;  // weak: the data owns the mode
};

// The device with an index where the device type has several: "cuda" is "cuda:0".
Device with_index(Device device);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_MODE_H_
