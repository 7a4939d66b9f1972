#include "switchboard/fake/fallback_kernel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/fake/common_device.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/map_tensors.h"
#include "switchboard/ops/factories/fill.h"

namespace sb::internal {
namespace {

constexpr std::array<std::string_view, 8> kMayFallBack = {
    "aten", "prims", "debugprims", "quantized", "xla", "vision", "torchtext", "torchaudio"};

// Throws the error that says why there is no fallback.
struct Refusal {
  const OperatorHandle& op;
  std::string_view rule_said;

  template <class... Text>
  [[noreturn]] void operator()(const Text&... why) const {
    const std::string rule =
        rule_said.empty()
            ? "no shape rule for fake tensors"
            : str_cat("its shape rule does not serve these arguments (", rule_said, ")");
    SB_THROW(UnsupportedOperatorError, op.name().to_string(), ": ", rule,
             ", and no fallback: ", why...,
             "; register a kernel for it at Meta, or a fake rule by register_fake");
  }
};

// Real tensors of zeros in the place of fake ones, one for each; views get zeros of their own.
class RealInputs {
 public:
  RealInputs(const Refusal& refuse, int64_t most_bytes)
      : refuse_(refuse), most_bytes_(most_bytes), left_(most_bytes) {}

  Tensor of(const Tensor& fake) {
    if (!fake.defined()) return fake;
    if (const auto found = real_.find(fake.impl()); found != real_.end()) return found->second;
    const int64_t bytes = checked_storage_bytes(fake.sizes(), fake.strides(), 0,
                                                static_cast<int64_t>(fake.itemsize()));
    if (bytes > left_) {
      refuse_("zeros like ", fake.describe(), " take ", bytes, " bytes, and the mode allows ",
              most_bytes_, " for all arguments (FakeTensorOptions::fallback_bytes)");
    }
    left_ -= bytes;
    const Device device =
        find_allocator(fake.device().type) ? fake.device() : Device(DeviceType::CPU);
    Tensor zeros = empty_strided_on(device, fake.sizes(), fake.strides(), fake.dtype());
    fill_(zeros, 0);
    zeros.impl()->set_wrapped_number(fake.impl()->is_wrapped_number());
    fake_.emplace_back(zeros, fake);
    real_.emplace(fake.impl(), zeros);
    return zeros;
  }
  // The fake tensor that a result is, or an undefined one.
  Tensor input_of(const Tensor& result) const {
    for (const auto& [real, fake] : fake_)
      if (real.is_same(result)) return fake;
    return Tensor();
  }
  bool aliases(const Tensor& result) const {
    return std::ranges::any_of(fake_,
                               [&](const auto& pair) { return pair.first.is_alias_of(result); });
  }

 private:
  const Refusal& refuse_;
  const int64_t most_bytes_;
  int64_t left_;
  absl::flat_hash_map<const TensorImpl*, Tensor> real_;
  std::vector<std::pair<Tensor, Tensor>> fake_;
};

}  // namespace

bool may_fall_back(const OperatorHandle& op) {
  return std::ranges::find(kMayFallBack, op.name().ns()) != kMayFallBack.end();
}

void run_fallback_kernel(FakeMode& mode, const OperatorHandle& op, const FakeOp& facts,
                         Stack* stack, std::string_view rule_said) {
  const Refusal refuse{op, rule_said};
  const size_t n = op.entry().num_arguments();
  if (!mode.options().allow_fallback_kernels) refuse("the mode allows none");
  if (!may_fall_back(op)) refuse("only operators of PyTorch's own namespaces may run on zeros");
  if (has_ordered_effect(op)) refuse("it has an effect, which must not come about");
  if (facts.sets_metadata) refuse("it changes the shape or storage of an argument");
  const auto arguments = absl::MakeConstSpan(*stack).last(n);
  for (const IValue& value : arguments) {
    if (value.is_symbolic() || value.is_SymIntList()) refuse("its sizes are symbolic");
    value.for_each_tensor([&](const Tensor& t) {
      if (t.is_symbolic()) refuse("its sizes are symbolic");
    });
  }
  const std::optional<Device> common = common_device(op, *stack);
  Device device = common.value_or(Device(DeviceType::CPU));

  Stack real(arguments.begin(), arguments.end());
  if (facts.device_argument >= 0) {
    IValue& argument = real[static_cast<size_t>(facts.device_argument)];
    if (argument.is_Device()) device = with_index(argument.to_device());
    if (!find_allocator(device.type)) argument = IValue(Device(DeviceType::CPU));
  }
  RealInputs inputs(refuse, mode.options().fallback_bytes);
  for (IValue& value : real) map_tensors(value, [&](const Tensor& t) { return inputs.of(t); });
  {
    const NoModesGuard no_modes;
    op.call_boxed(&real);
  }
  const IntrusivePtr<ModeData> data = mode.data();
  for (IValue& value : real) {
    map_tensors(value, [&](const Tensor& result) {
      if (!result.defined()) return result;
      if (const Tensor input = inputs.input_of(result); input.defined()) return input;
      if (inputs.aliases(result)) refuse("a result shares the storage of an argument");
      return mode.converter().convert(result, device, data);
    });
  }
  stack->resize(stack->size() - n);
  std::ranges::move(real, std::back_inserter(*stack));
}

}  // namespace sb::internal
