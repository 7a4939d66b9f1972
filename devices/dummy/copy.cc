// Copies from, to and on the device.

#include "switchboard/ops/copy.h"

#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/host_alias.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/dispatch/library.h"

namespace sb::dummy {
namespace {

void check_device(const char* argument, const Tensor& t) {
  SB_CHECK(t.is_cpu() || t.device().type == DeviceType::PrivateUse1, "aten::_copy_from: argument '",
           argument, "': expected a tensor on cpu or ", to_string(DeviceType::PrivateUse1),
           ", got ", t.describe());
}

// The same elements in the same places, one after another.
bool one_block(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.impl()->is_non_overlapping_and_dense() && !a.is_alias_of(b);
}

// `self` may broadcast to `dst`, and have another dtype.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool /*non_blocking*/) {
  check_device("self", self);
  check_device("dst", dst);
  internal::count_kernel("aten::_copy_from");
  HostAliases host;
  const Tensor from = host(self);
  const Tensor to = host(dst);
  if (one_block(from, to)) {
    if (to.numel() != 0) std::memcpy(to.data_ptr(), from.data_ptr(), to.nbytes());
  } else {
    copy_elements(to, from);
  }
  return dst;
}

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl(sb::_copy_from, copy_from); }

}  // namespace sb::dummy
