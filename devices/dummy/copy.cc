// Copies from, to and on the device.

#include "switchboard/ops/copying/copy.h"

#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/devices/dummy/launch.h"
#include "switchboard/devices/dummy/pinned_memory.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/streams.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/shape/resize.h"

namespace sb::dummy {
namespace {

void check_device(std::string_view op, const char* argument, const Tensor& t) {
  SB_CHECK(t.is_cpu() || t.device().type == DeviceType::PrivateUse1, op, ": argument '", argument,
           "': expected a tensor on cpu or ", to_string(DeviceType::PrivateUse1), ", got ",
           t.describe());
}

// The same elements in the same places, one after another.
bool one_block(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.impl()->is_non_overlapping_and_dense() && !a.is_alias_of(b);
}

void copy_on_host(HostTensors t) {
  const Tensor &from = t[0], &to = t[1];
  if (one_block(from, to)) {
    if (to.numel() != 0) std::memcpy(to.data_ptr(), from.data_ptr(), to.nbytes());
  } else {
    copy_elements(to, from);
  }
}

// What the copy would refuse when it runs, which may be later.
void check_fits(const Tensor& self, const Tensor& dst) {
  const auto sizes = broadcast_shapes(self.sizes(), dst.sizes());
  SB_CHECK(IntArrayRef(sizes) == dst.sizes(),
           "aten::_copy_from: argument 'self': ", self.describe(), " does not broadcast to ",
           dst.describe());
  check_no_internal_overlap(dst);
  check_no_partial_overlap(dst, self);
}

// The memory that a tensor's copy need not wait for.
bool is_asynchronous(const Tensor& t, bool non_blocking) {
  return !t.is_cpu() || (non_blocking && is_pinned(t.storage()->data()));
}

// `self` may broadcast to `dst`, and have another dtype. Between devices the copy is the work of
// the source's stream, after the work of the destination's; that of the destination's comes after.
Tensor copy_from(const Tensor& self, const Tensor& dst, bool non_blocking) {
  check_device("aten::_copy_from", "self", self);
  check_device("aten::_copy_from", "dst", dst);
  internal::count_kernel("aten::_copy_from");
  check_fits(self, dst);
  if (self.is_cpu() && dst.is_cpu()) {
    copy_elements(dst, self);
    return dst;
  }
  const Stream stream = current_stream_of((self.is_cpu() ? dst : self).device().index);
  const Stream last = dst.is_cpu() ? stream : current_stream_of(dst.device().index);
  wait_for_stream(stream, last);
  launch_on(stream, "aten::_copy_from", {self, dst}, copy_on_host);
  wait_for_stream(last, stream);
  if (!is_asynchronous(self, non_blocking) || !is_asynchronous(dst, non_blocking))
    synchronize_stream(stream);
  return dst;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  check_device("aten::_copy_from_and_resize", "self", self);
  check_device("aten::_copy_from_and_resize", "dst", dst);
  resize_output(dst, self.sizes());
  return copy_from(self, dst, false);
}

}  // namespace

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::_copy_from, copy_from);
  m.impl(sb::_copy_from_and_resize, copy_from_and_resize);
}

}  // namespace sb::dummy
