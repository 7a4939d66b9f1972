#include "switchboard/ops/copying/copy.h"

#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/modes/trace_hooks.h"
#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/memory_format.h"

namespace sb {

namespace {

// Copies from here on are worth threads.
constexpr size_t kLargeCopy = size_t{1} << 18;

// The usual small copy, of one array to another, needs no TensorIterator. Whether it was one.
bool copy_small_array(const Tensor& self, const Tensor& src) {
  if (!self.is_cpu() || !src.is_cpu() || self.dtype() != src.dtype() || !self.is_contiguous() ||
      !src.is_contiguous() || self.sizes() != src.sizes()) {
    return false;
  }
  const size_t nbytes = self.nbytes();
  if (nbytes >= kLargeCopy) return false;
  if (nbytes == 0) return true;
  const uintptr_t to = reinterpret_cast<uintptr_t>(self.data_ptr());
  const uintptr_t from = reinterpret_cast<uintptr_t>(src.data_ptr());
  // What overlaps in part is refused elsewhere.
  if (to < from + nbytes && from < to + nbytes) return false;
  std::memcpy(self.data_ptr(), src.data_ptr(), nbytes);
  return true;
}

}  // namespace

void copy_elements(const Tensor& self, const Tensor& src, bool check_overlap) {
  if (self.is_same(src) || copy_small_array(self, src)) return;
  const Tensor* const inputs[] = {&src};
  TensorIterator iterator(
      "copy_", kFixedOutput | kAnyDevice | (check_overlap ? 0 : kNoOverlapCheck), self, inputs);
  if (iterator.device().is_meta()) return;
  iterator.allocate_output(self.dtype());
  iterator.run_copy();
}

Tensor cast_copy(const Tensor& src, DType dtype) {
  Tensor result = empty_on(DeviceType::CPU, src.sizes(), dtype);
  copy_elements(result, src);
  return result;
}

namespace {

// Kernel of copy_ for every device.
Tensor copy_any(const Tensor& self, const Tensor& src, bool non_blocking) {
  SB_CHECK(self.defined(), "copy_: argument self: expected a tensor, got an undefined one");
  SB_CHECK(src.defined(), "copy_: argument src: expected a tensor, got an undefined one");
  if (self.is_same(src)) return self;
  const bool plain_devices = (self.is_cpu() || self.is_meta()) && (src.is_cpu() || src.is_meta());
  if (self.is_meta() || (plain_devices && self.is_cpu())) {
    SB_CHECK_NOT_IMPLEMENTED(self.is_meta() || !src.is_meta(),
                             "copy_: argument src: ", src.describe(), " has no data to copy to ",
                             self.describe());
    copy_elements(self, src);
  } else {
    SB_CHECK_NOT_IMPLEMENTED(!src.is_meta(), "copy_: argument src: ", src.describe(),
                             " has no data to copy to ", self.describe());
    if (src.device().type == self.device().type || src.is_cpu() || self.is_cpu()) {
      _copy_from(src, self, non_blocking);
    } else {
      // Neither device knows of the other.
      const Tensor host = empty_like(src, {}, {}, Device(DeviceType::CPU), {}, {});
      _copy_from(src, host, false);
      _copy_from(host, self, false);
    }
  }
  return self;
}

bool same_device(Device a, Device b) {
  if (a.type != b.type) return false;
  return a.index == b.index || a.is_cpu() || a.is_meta() || !a.has_index() || !b.has_index();
}

Tensor to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
               std::optional<MemoryFormat> memory_format) {
  SB_CHECK(self.defined(), "_to_copy: argument self: expected a tensor, got an undefined one");
  const Tensor result = empty_like(self, dtype, layout, device, pin_memory, memory_format);
  copy_(result, self, non_blocking);
  return result;
}

Tensor clone_any(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  SB_CHECK(self.defined(), "clone: argument self: expected a tensor, got an undefined one");
  Tensor result = empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                             memory_format.value_or(MemoryFormat::Preserve));
  copy_(result, self, false);
  return result;
}

Tensor contiguous_any(const Tensor& self, MemoryFormat format) {
  SB_CHECK(self.defined(), "contiguous: argument self: expected a tensor, got an undefined one");
  const bool is_so = self.is_contiguous(format);
  SB_CHECK(is_so || format != MemoryFormat::Preserve,
           "contiguous: argument memory_format: preserve_format is not supported");
  if (!current_mode()) [[likely]]
    return is_so ? self : clone(self, format);
  const Tensor result = is_so ? self : clone(self, format);
  internal::trace_hooks->gave_view_or_copy(self, result, "aten::contiguous",
                                           internal::ViewOrCopyBy::Layout);
  return result;
}

// self, or a copy of it that is as asked for.
Tensor to_any(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
              std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
              bool copy, std::optional<MemoryFormat> memory_format) {
  SB_CHECK(self.defined(), "to: argument self: expected a tensor, got an undefined one");
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool as_it_is = !copy && dtype.value_or(self.dtype()) == self.dtype() &&
                        layout.value_or(self.layout()) == self.layout() &&
                        same_device(device.value_or(self.device()), self.device()) &&
                        (format == MemoryFormat::Preserve || format == suggest_memory_format(self));
  if (as_it_is) return self;
  return _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  take_numbers_for_tensors({"aten::to", "aten::_to_copy", "aten::copy", "aten::copy_"});
  define(m, copy_).composite_explicit(copy_any);
  define(m, _copy_from);
  define(m, _copy_from_and_resize);
  define(m, clone).composite_explicit(clone_any).out(clone_out);
  define(m, _to_copy)
      .composite_explicit(to_copy)
      .out(_to_copy_out, [](const Tensor& self, bool non_blocking,
                            std::optional<MemoryFormat> memory_format, const Tensor& out) {
        SB_CHECK(out.defined(), "_to_copy: out: expected a tensor, got an undefined one");
        const Tensor result = _to_copy(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                                       non_blocking, memory_format);
        copy_result_to_out("_to_copy", result, out);
        return out;
      });
  define(m, contiguous).composed(contiguous_any);
  define(m, to_dtype)
      .composed([](const Tensor& self, DType dtype, bool non_blocking, bool copy,
                   std::optional<MemoryFormat> format) {
        return to_any(self, dtype, {}, {}, {}, non_blocking, copy, format);
      });
  define(m, to_device)
      .composed([](const Tensor& self, Device device, DType dtype, bool non_blocking, bool copy,
                   std::optional<MemoryFormat> format) {
        return to_any(self, dtype, {}, device, {}, non_blocking, copy, format);
      });
  define(m, to).composed(to_any);
  define(m, to_other)
      .composed([](const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                   std::optional<MemoryFormat> format) {
        SB_CHECK(other.defined(), "to: argument other: expected a tensor, got an undefined one");
        return to_any(self, other.dtype(), other.layout(), other.device(), {}, non_blocking, copy,
                      format);
      });
}

}  // namespace
}  // namespace sb
