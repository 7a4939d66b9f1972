// The mode behind FakeTensorMode.

#ifndef SWITCHBOARD_FAKE_FAKE_MODE_H_
#define SWITCHBOARD_FAKE_FAKE_MODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/modes/direct_call.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/dispatch_cache.h"
#include "switchboard/fake/fake_arguments.h"
#include "switchboard/fake/fake_converter.h"
#include "switchboard/fake/fake_op.h"
#include "switchboard/fake/fake_tensor_data.h"
#include "switchboard/fake/fake_tensor_mode.h"

namespace sb::internal {

class FakeMode final : public DispatchMode, public IntrusiveTarget, private DirectPath {
 public:
  explicit FakeMode(FakeTensorOptions options);

  // Most calls have only fake tensors of this mode, sizes that are numbers and an operator without
  // rules: they go straight to the shape rule. All others take the steps that docs/fake.md lists
  // ("What a call goes through"), as `FakeTensorMode._dispatch_impl` does.
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  // Throws the error of a rule again; where there are sizes that only data tell, with that: it may
  // rest on what was taken to hold of them, and the program itself may never throw it. In a catch
  // block.
  [[noreturn]] void rethrow(const Error& error) const;
  // How a call goes on from there. Where a rule or the cache may give the results, it decides.
  void explain(CallPath& path, const PathCall& call);
  std::string name() const override { return "FakeTensorMode"; }
  std::optional<ModeKey> mode_key() const override { return ModeKey::Fake; }

  Tensor from_tensor(const Tensor& real, const FromTensorOptions& how);
  const FakeTensorOptions& options() const { return options_; }
  AllocationStats& memory() { return converter_.allocator().stats(); }
  FakeConverter& converter() { return converter_; }
  ShapeEnv* shape_env() const { return options_.shape_env.get(); }
  FakeDispatchCache& cache() const { return *options_.cache; }
  // Calls with symbols of the ShapeEnv, which there must be.
  RememberedCalls& symbolic_calls() { return *symbolic_calls_; }
  // Every setting of the options and the ShapeEnv that results depend on, in one number.
  uint64_t cache_settings() const { return cache_settings_; }
  uint64_t epoch() const { return epoch_; }
  void new_epoch() { ++epoch_; }
  // Whether a call of the operator comes back, as calls of what it is composed of.
  static bool runs_parts(const OperatorHandle& op, const FakeOp& facts);

  bool owns(const Tensor& tensor) const {
    const IntrusivePtr<ModeData>& data = tensor.impl()->mode_data();
    return data && &data->mode() == this;
  }
  // The mode data of all fake tensors without extras.
  IntrusivePtr<ModeData> data();
  // Its address, to compare with; nullptr while there is none yet.
  const ModeData* plain_data() const { return data_.address(); }

  // A fake tensor of that shape; contiguous without strides.
  Tensor empty(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype, Device device);

  // The steps that rules use, too. `facts` is that of the operator.
  void run_meta_kernel(const OperatorHandle& op, const FakeOp& facts, std::optional<Device> device,
                       Stack* stack);

 private:
  // The same where the rule is implemented for the arguments; the fallback kernel where it is not.
  void run_meta_or_fallback(const OperatorHandle& op, const FakeOp& facts,
                            std::optional<Device> device, Stack* stack);
  void call_slowly(const OperatorHandle& op, const FakeOp& facts, FakeArguments arguments,
                   Stack* stack);
  // A call that goes straight to the shape rule, or that the cache answers, without a stack.
  DirectPath* direct_path() override { return this; }
  bool call_direct(OperatorEntry& entry, const TypedFrame& frame) override;
  // Runs the shape rule. Returns false, everything as it was, for arguments that need more.
  bool run_direct(const OperatorHandle& op, const Kernel& meta, const TypedFrame& frame);
  // From the fake rules on.
  void run(const OperatorHandle& op, const FakeOp& facts, Stack* stack);
  IntrusivePtr<ModeData> data_of(absl::Span<const IValue> arguments);
  bool lift(Stack* stack);
  bool compute_constants(const OperatorHandle& op, const FakeOp& facts,
                         const FakeArguments& arguments, Stack* stack);
  void forget_written_constants(const OperatorHandle& op, const Stack& stack);
  void check_written(const OperatorHandle& op, const FakeOp& facts, const Stack& stack);
  void convert_arguments(const OperatorHandle& op, const FakeOp& facts, Stack* stack);
  Tensor convert_argument(const OperatorHandle& op, const FakeOp& facts, size_t index,
                          const Tensor& tensor, const Stack& stack);
  void record_creation(const Tensor& fake, const Creation& creation);
  // Returns whether calls with nothing special among their arguments go straight to the shape rule.
  bool goes_straight(const FakeOp& facts, const DispatchTable& table) const;
  // Makes a result of a Meta kernel a fake tensor, unless it is an argument.
  template <class Invocation>
  void adopt(const OperatorHandle& op, const Invocation& invocation, const Tensor& result,
             Device device, const IntrusivePtr<ModeData>& data);
  FakeArguments look_at(absl::Span<const IValue> arguments) const {
    return FakeArguments::of(*this, plain_data(), arguments);
  }

  const FakeTensorOptions options_;
  const bool options_are_plain_;  // none that changes what single calls do
  const bool cache_answers_;      // calls with nothing special among their arguments
  const uint64_t cache_settings_;
  static constexpr size_t kMostSymbolicCalls = 1 << 12;
  const std::unique_ptr<RememberedCalls> symbolic_calls_;
  FakeConverter converter_;
  WeakIntrusivePtr<ModeData> data_;  // weak: the data owns the mode
  uint64_t epoch_ = 0;
};

// The device with an index where the device type has several: "cuda" is the current one, or cuda:0.
Device with_index(Device device);

// Returns whether the Meta slot holds a CompositeImplicitAutograd kernel: that is the only one that
// fills the NestedTensor slots too.
bool is_implicit_composite(const DispatchTable& table);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_MODE_H_
