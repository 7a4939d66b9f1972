#include "switchboard/devices/pin_memory.h"

#include <optional>

#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/define/define.h"

namespace sb {
namespace {

std::optional<DeviceType> accelerator() {
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (type != DeviceType::CPU && type != DeviceType::Meta && find_device_guard(type)) return type;
  }
  return std::nullopt;
}

std::optional<DeviceType> type_of(const std::optional<Device>& device) {
  return device ? std::optional<DeviceType>(device->type) : accelerator();
}

// The device decides, but the tensor is on the CPU: hence these are at BackendSelect.
bool select_is_pinned(const Tensor& self, std::optional<Device> device) {
  SB_CHECK(self.defined(), "is_pinned: argument 'self': got an undefined tensor");
  const std::optional<DeviceType> type = type_of(device);
  if (!self.is_cpu() || !type) return false;
  return is_pinned.redispatch(DispatchKeySet(dispatch_key_of(*type)), self, device);
}

const ExplainKernels explain_select(DispatchKey::BackendSelect, [](CallPath& path,
                                                                   const PathCall& c) {
  const auto arguments = absl::MakeConstSpan(c.arguments).last(2);
  const std::optional<DeviceType> type =
      type_of(arguments[1].is_Device() ? std::optional(arguments[1].to_device()) : std::nullopt);
  if (type && arguments[0].to_tensor().is_cpu())
    path.enter(c.op, dispatch_key_of(*type), c.arguments);
});

Tensor select_pin_memory(const Tensor& self, std::optional<Device> device) {
  SB_CHECK(self.defined(), "_pin_memory: argument 'self': got an undefined tensor");
  SB_CHECK(self.is_cpu() && self.layout() == Layout::Strided,
           "_pin_memory: argument 'self': only dense tensors of the CPU can be pinned, got ",
           self.describe());
  const std::optional<DeviceType> type = type_of(device);
  SB_CHECK(type, "_pin_memory: there is no accelerator to pin memory for");
  SB_CHECK_NOT_IMPLEMENTED(*type != DeviceType::CPU && *type != DeviceType::Meta,
                           "_pin_memory: argument 'device': ", to_string(*type), " pins no memory");
  return _pin_memory.redispatch(DispatchKeySet(dispatch_key_of(*type)), self, device);
}

Tensor pin_memory_kernel(const Tensor& self, std::optional<Device> device) {
  return is_pinned(self, device) ? self : _pin_memory(self, device);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  m.impl(is_pinned, DispatchKey::BackendSelect, select_is_pinned);
  define(m, pin_memory).composed(pin_memory_kernel);
  define(m, _pin_memory).kernel(DispatchKey::BackendSelect, select_pin_memory);
}

}  // namespace
}  // namespace sb
