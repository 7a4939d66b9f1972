// Tensors of the CPU in pinned memory.

#include "switchboard/devices/pin_memory.h"

#include "switchboard/core/storage.h"
#include "switchboard/devices/dummy/pinned_memory.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/copying/copy.h"

namespace sb::dummy {
namespace {

bool is_pinned_kernel(const Tensor& self, std::optional<Device>) {
  return self.is_cpu() && self.storage() && is_pinned(self.storage()->data());
}

// A dense copy, in the order of self's strides.
Tensor pin_memory_kernel(const Tensor& self, std::optional<Device>) {
  SB_CHECK(self.is_cpu(), "_pin_memory: argument 'self': expected a tensor on cpu, got ",
           self.describe());
  internal::count_kernel(sb::_pin_memory.name());
  const Tensor copy = clone(self);
  auto storage = make_intrusive<StorageImpl>(copy.storage()->nbytes(), &pinned_allocator());
  copy.impl()->set_storage(std::move(storage));
  return copy_(copy, self);
}

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::is_pinned, is_pinned_kernel);
  m.impl(sb::_pin_memory, pin_memory_kernel);
}

}  // namespace sb::dummy
