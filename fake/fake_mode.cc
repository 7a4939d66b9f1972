#include "switchboard/fake/fake_mode.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/fake/common_device.h"
#include "switchboard/fake/kernel_invocation.h"

namespace sb {
namespace internal {
namespace {

// Operators whose tensors may be on different devices: the result follows the first.
bool is_multi_device(const OperatorHandle& op) {
  const std::string& name = op.name().name;
  return name == "aten::copy_" || name == "aten::copy";
}

// Whether the Meta slot holds a CompositeImplicitAutograd kernel: that is the only one that fills
// the NestedTensor slots too.
bool is_implicit_composite(const DispatchTable& table) {
  const Kernel& meta = table.slots[slot_of(DispatchKey::Meta)];
  const Kernel& nested = table.slots[slot_of(DispatchKey::NestedTensorCPU)];
  return meta.boxed == nested.boxed && meta.unboxed == nested.unboxed && meta.state == nested.state;
}

// The value of the operator's `device` argument, or nullptr if it has none.
IValue* find_device_argument(const OperatorHandle& op, IValue* arguments) {
  const FunctionSchema& schema = op.schema();
  for (size_t i = 0; i < schema.arguments.size(); ++i)
    if (schema.arguments[i].type.base == BaseType::Device) return &arguments[i];
  return nullptr;
}

}  // namespace

Device with_index(Device device) {
  if (device.has_index() || device.is_cpu() || device.is_meta()) return device;
  return Device(device.type, 0);
}

FakeTensorData::FakeTensorData(IntrusivePtr<FakeMode> mode) : mode_(std::move(mode)) {}
FakeTensorData::~FakeTensorData() = default;
DispatchMode& FakeTensorData::mode() const { return *mode_; }
void FakeTensorData::release_resources() { mode_ = nullptr; }

FakeMode::FakeMode(FakeTensorOptions options)
    : options_(options), allocator_(make_intrusive<FakeAllocator>()), converter_(allocator_) {}

IntrusivePtr<ModeData> FakeMode::data() {
  if (IntrusivePtr<ModeData> data = data_.lock()) return data;
  IntrusivePtr<ModeData> data = make_intrusive<FakeTensorData>(IntrusivePtr<FakeMode>::share(this));
  data_ = WeakIntrusivePtr<ModeData>(data);
  return data;
}

bool FakeMode::owns(const Tensor& tensor) const {
  const IntrusivePtr<ModeData>& data = tensor.impl()->mode_data();
  return data && &data->mode() == this;
}

Tensor FakeMode::from_tensor(const Tensor& real, std::optional<Device> device) {
  SB_CHECK(real.defined(), "FakeTensorMode.from_tensor: expected a tensor, got an undefined one");
  if (owns(real)) return real;
  SB_CHECK(real.storage(), "FakeTensorMode.from_tensor: ", real.describe(), " has no storage");
  SB_CHECK(!real.impl()->mode_data(), "FakeTensorMode.from_tensor: ", real.describe(),
           " belongs to another mode, ", real.impl()->mode_data()->mode().name());
  const Device target = with_index(device.value_or(real.device()));
  SB_CHECK_VALUE(!target.is_meta(),
                 "FakeTensorMode.from_tensor: a fake tensor's device cannot be meta");
  return converter_.convert(real, target, data());
}

Tensor FakeMode::convert_argument(const OperatorHandle& op, size_t index, const Tensor& tensor) {
  if (!tensor.defined() || owns(tensor)) return tensor;
  const std::string& name = op.schema().arguments[index].name;
  SB_CHECK(!tensor.impl()->mode_data(), op.name().to_string(), ": argument ", index, " '", name,
           "': a tensor of another mode, ", tensor.impl()->mode_data()->mode().name(),
           ", among those of FakeTensorMode");
  const bool converts = options_.allow_non_fake_inputs || tensor.impl()->is_wrapped_number();
  SB_CHECK(converts, op.name().to_string(), ": argument ", index, " '", name,
           "': expected a fake tensor, got a real one, ", tensor.describe(),
           "; convert it with FakeTensorMode::from_tensor, or allow_non_fake_inputs");
  SB_CHECK(!tensor.is_meta(), op.name().to_string(), ": argument ", index, " '", name,
           "': expected a fake tensor, got a meta one, ", tensor.describe());
  return converter_.convert(tensor, with_index(tensor.device()), data());
}

void FakeMode::convert_arguments(const OperatorHandle& op, Stack* stack) {
  const size_t n = op.entry().num_arguments();
  for (size_t i = 0; i < n; ++i) {
    IValue& value = (*stack)[stack->size() - n + i];
    if (value.is_Tensor()) {
      const Tensor& tensor = value.unchecked_tensor();
      if (!owns(tensor) && tensor.defined()) value = convert_argument(op, i, tensor);
    } else if (value.is_TensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& t : value.to_tensor_list()) list.push_back(convert_argument(op, i, t));
      value = IValue(std::move(list));
    } else if (value.is_OptionalTensorList()) {
      std::vector<std::optional<Tensor>> list;
      for (const std::optional<Tensor>& t : value.to_optional_tensor_list()) {
        list.push_back(t ? std::optional(convert_argument(op, i, *t)) : std::nullopt);
      }
      value = IValue(std::move(list));
    }
  }
}

void FakeMode::wrap_result(const OperatorHandle& op, const Tensor& result, Device device,
                           const KernelInvocation& invocation) {
  if (!result.defined() || owns(result)) return;  // an argument
  SB_CHECK(result.is_meta() && !result.impl()->mode_data(), op.name().to_string(),
           ": the kernel at Meta gave a tensor that is neither meta nor fake, ", result.describe());
  if (!invocation.is_storage_of_argument(result.storage())) {
    const Storage fake = make_fake_storage(allocator_, result.storage()->nbytes());
    if (!result.storage()->resizable()) fake->set_resizable(nullptr);
    result.impl()->set_storage(fake);
  }
  become_fake(result, device, data());
}

void FakeMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  // The stack may hold the last tensor that keeps this mode alive, and the kernel may drop it.
  const IntrusivePtr<FakeMode> self = IntrusivePtr<FakeMode>::share(this);
  const DispatchTable& table = op.entry().resolved_table();
  SB_CHECK_KIND(DataDependentOutputError, !op.entry().has_tag(Tag::data_dependent_output),
                op.name().to_string(),
                ": the result depends on the data, which fake tensors do not have");
  SB_CHECK_KIND(DynamicOutputShapeError, !op.entry().has_tag(Tag::dynamic_output_shape),
                op.name().to_string(),
                ": the result's shape depends on the data, which fake tensors do not have");
  SB_CHECK_NOT_IMPLEMENTED(table.slots[slot_of(DispatchKey::Meta)], op.name().to_string(),
                           ": no shape rule for fake tensors; register a kernel for it at Meta");
  convert_arguments(op, stack);
  if (is_implicit_composite(table)) {
    ModeGuard active(this);
    op.redispatch_boxed(DispatchKey::Meta, stack);
    return;
  }

  const size_t base = stack->size() - op.entry().num_arguments();
  IValue* const arguments = stack->data() + base;
  const std::optional<Device> common =
      is_multi_device(op) ? arguments[0].to_tensor().device() : common_device(op, *stack);
  Device device = common.value_or(Device(DeviceType::CPU));
  if (IValue* const argument = find_device_argument(op, arguments)) {
    if (argument->is_Device()) device = with_index(argument->to_device());
    *argument = IValue(Device(DeviceType::Meta));
  }
  SB_CHECK_VALUE(!device.is_meta(), op.name().to_string(),
                 ": a fake tensor's device cannot be meta");

  KernelInvocation invocation;
  for (size_t i = base; i < stack->size(); ++i) {
    (*stack)[i].for_each_tensor([&](const Tensor& t) { invocation.unfake(t); });
    if ((*stack)[i].is_Storage()) invocation.add_storage((*stack)[i].to_storage());
  }
  op.redispatch_boxed(DispatchKey::Meta, stack);
  invocation.end();
  for (size_t i = base; i < stack->size(); ++i)
    (*stack)[i].for_each_tensor([&](const Tensor& t) { wrap_result(op, t, device, invocation); });
}

}  // namespace internal

FakeTensorMode::FakeTensorMode(FakeTensorOptions options)
    : impl_(make_intrusive<internal::FakeMode>(options)) {}

FakeTensorMode::FakeTensorMode(const FakeTensorMode& other) = default;
FakeTensorMode& FakeTensorMode::operator=(const FakeTensorMode& other) = default;
FakeTensorMode::~FakeTensorMode() = default;

Tensor FakeTensorMode::from_tensor(const Tensor& real, std::optional<Device> device) {
  return impl_->from_tensor(real, device);
}

DispatchMode* FakeTensorMode::mode() const { return impl_.get(); }

AllocationStats& FakeTensorMode::memory() const { return impl_->memory(); }

bool is_fake(const Tensor& tensor) {
  const IntrusivePtr<ModeData>& data = tensor.impl()->mode_data();
  return data && dynamic_cast<const internal::FakeTensorData*>(data.get()) != nullptr;
}

}  // namespace sb
