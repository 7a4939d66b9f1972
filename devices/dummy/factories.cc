// Uninitialised tensors on the device; all other factories are made of these.

#include "switchboard/ops/factories/factories.h"

#include <utility>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/set.h"

namespace sb::dummy {
namespace {

// Checks what all factories take, and gives the device with its index.
Device checked_device(std::string_view op, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory) {
  const Device asked = device.value_or(DeviceType::PrivateUse1);
  SB_CHECK(asked.type == DeviceType::PrivateUse1, op, ": argument 'device': expected ",
           to_string(DeviceType::PrivateUse1), ", got ", to_string(asked));
  SB_CHECK(asked.index < device_count(asked.type), op,
           ": argument 'device': no such device: ", to_string(asked));
  SB_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op,
                           ": argument 'layout': expected strided on ", to_string(asked), ", got ",
                           to_string(*layout));
  SB_CHECK(!pin_memory.value_or(false), op,
           ": argument 'pin_memory': only memory of the CPU can "
           "be pinned, not of ",
           to_string(asked));
  internal::count_kernel(op);
  return resolve_device(asked);
}

Tensor empty_kernel(IntArrayRef size, std::optional<DType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory,
                    std::optional<MemoryFormat> memory_format) {
  const Device on = checked_device(sb::empty.name(), layout, device, pin_memory);
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  SB_CHECK(format != MemoryFormat::Preserve, sb::empty.name(),
           ": argument 'memory_format': preserve_format is not supported");
  DeviceGuard guard(on);
  return empty_on(on, size, dtype.value_or(default_dtype()), format);
}

Tensor empty_strided_kernel(IntArrayRef size, IntArrayRef stride, std::optional<DType> dtype,
                            std::optional<Layout> layout, std::optional<Device> device,
                            std::optional<bool> pin_memory) {
  const Device on = checked_device(sb::empty_strided.name(), layout, device, pin_memory);
  DeviceGuard guard(on);
  return empty_strided_on(on, size, stride, dtype.value_or(default_dtype()));
}

// The operators' own kernel takes the empty storage from whichever device is current.
Tensor set_kernel(const Tensor& self) {
  SB_CHECK(self.defined(), sb::set_.name(), ": argument 'self': got an undefined tensor");
  internal::count_kernel(sb::set_.name());
  DeviceGuard guard(self.device());
  Storage nothing = make_storage(0, get_allocator(self.device().type), self.device().type);
  self.impl()->set_sizes_contiguous({0});
  self.impl()->set_storage(std::move(nothing));
  self.impl()->set_storage_offset(0);
  return self;
}

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::empty, empty_kernel);
  m.impl(sb::empty_strided, empty_strided_kernel);
  m.impl(sb::set_, set_kernel);
}

}  // namespace sb::dummy
