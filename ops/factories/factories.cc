#include "switchboard/ops/factories/factories.h"

#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/memory_overlap.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/factory_parameters.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/shape/symbolic_operands.h"

namespace sb {
namespace {

// SB_TENSOR_OPTIONS where they are only passed on.
#define SB_OPTION_REFS                                                  \
  const std::optional<DType>&dtype, const std::optional<Layout>&layout, \
      const std::optional<Device>&device, const std::optional<bool>&pin_memory

void check_options(std::string_view op, std::optional<Layout> layout,
                   std::optional<bool> pin_memory) {
  SB_CHECK_NOT_IMPLEMENTED(layout.value_or(Layout::Strided) == Layout::Strided, op,
                           ": argument layout: only strided tensors can be made, got ",
                           to_string(*layout));
  SB_CHECK_NOT_IMPLEMENTED(!pin_memory.value_or(false), op,
                           ": argument pin_memory: pinned memory is not supported");
}

// There is one CPU and one meta device: their index says nothing.
Device without_index(std::string_view op, Device device) {
  SB_CHECK(device.index <= 0, op, ": argument device: there is no ", to_string(device));
  return Device(device.type);
}

Tensor empty_strided_plain(IntArrayRef size, IntArrayRef stride, SB_TENSOR_OPTIONS) {
  check_options("empty_strided", layout, pin_memory);
  return empty_strided_on(without_index("empty_strided", *device), size, stride,
                          dtype.value_or(default_dtype()));
}

// Dense strides of symbolic sizes in a memory format that names an order.
SymDimVector strides_in_format(std::string_view op, SymIntArrayRef sizes, MemoryFormat format) {
  SB_CHECK(format != MemoryFormat::Preserve, op,
           ": argument memory_format: preserve_format is not supported");
  if (format == MemoryFormat::Contiguous) return contiguous_strides(sizes);
  const size_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
  SB_CHECK(sizes.size() == rank, op, ": memory format ", to_string(format), ": expected ", rank,
           " dimensions, got ", sizes.size());
  SymDimVector strides(rank);
  SymInt stride = 1;
  const auto next = [&](size_t d) {
    strides[d] = stride;
    stride *= sym_max(sizes[d], SymInt(1));
  };
  next(1);
  for (size_t d = rank; --d > 1;) next(d);
  next(0);
  return strides;
}

// The kernels of a device that this place is about: `device` may be left out there. Functors, and
// not functions, where every instruction counts: their calls are inlined. By reference, so that
// what only the rare call looks at is not copied.
template <DeviceType type>
struct EmptyAt {
  Tensor operator()(IntArrayRef size, SB_OPTION_REFS,
                    const std::optional<MemoryFormat>& memory_format) const {
    const DType new_dtype = dtype ? *dtype : default_dtype();
    if (layout || pin_memory || memory_format || (device && *device != Device(type))) [[unlikely]] {
      return with_all_options(size, new_dtype, layout, device, pin_memory, memory_format);
    }
    return empty_on(type, size, new_dtype);
  }
  [[gnu::noinline]] static Tensor with_all_options(
      IntArrayRef size, DType dtype, const std::optional<Layout>& layout,
      const std::optional<Device>& device, const std::optional<bool>& pin_memory,
      const std::optional<MemoryFormat>& memory_format) {
    check_options("empty", layout, pin_memory);
    const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
    SB_CHECK(format != MemoryFormat::Preserve,
             "empty: argument memory_format: preserve_format is not supported");
    return empty_on(without_index("empty", device.value_or(Device(type))), size, dtype, format);
  }
};
template <DeviceType type>
Tensor empty_strided_at(IntArrayRef size, IntArrayRef stride, SB_TENSOR_OPTIONS) {
  if (!device) device = Device(type);
  return empty_strided_plain(size, stride, dtype, layout, device, pin_memory);
}

// At Meta, where sizes may be symbols.
struct EmptyAtMeta {
  Tensor operator()(SymIntArrayRef size, SB_OPTION_REFS,
                    const std::optional<MemoryFormat>& memory_format) const {
    if (any_symbolic(size)) [[unlikely]]
      return with_symbols(size, dtype, layout, pin_memory, memory_format);
    return EmptyAt<DeviceType::Meta>()(size.expect_ints(), dtype, layout, device, pin_memory,
                                       memory_format);
  }
  [[gnu::noinline]] static Tensor with_symbols(SymIntArrayRef size,
                                               const std::optional<DType>& dtype,
                                               const std::optional<Layout>& layout,
                                               const std::optional<bool>& pin_memory,
                                               const std::optional<MemoryFormat>& memory_format) {
    check_options("empty", layout, pin_memory);
    SymDimVector strides;
    if (memory_format) strides = strides_in_format("empty", size, *memory_format);
    return empty_with_symbols(size, strides, dtype.value_or(default_dtype()));
  }
};
Tensor empty_strided_at_meta(SymIntArrayRef size, SymIntArrayRef stride, SB_TENSOR_OPTIONS) {
  if (any_symbolic(size, stride)) {
    check_options("empty_strided", layout, pin_memory);
    return empty_with_symbols(size, stride, dtype.value_or(default_dtype()));
  }
  return empty_strided_at<DeviceType::Meta>(size.expect_ints(), stride.expect_ints(), dtype, layout,
                                            device, pin_memory);
}

// No argument is a tensor, so the device argument picks the kernel.
DispatchKeySet keys_of_device(const std::optional<Device>& device) {
  return backend_key_set(device ? device->type : DeviceType::CPU);
}

struct EmptySelect {
  Tensor operator()(SymIntArrayRef size, SB_OPTION_REFS,
                    const std::optional<MemoryFormat>& memory_format) const {
    return empty.redispatch(keys_of_device(device), size, dtype, layout, device, pin_memory,
                            memory_format);
  }
};

Tensor empty_strided_select(SymIntArrayRef size, SymIntArrayRef stride, SB_TENSOR_OPTIONS) {
  return empty_strided.redispatch(keys_of_device(device), size, stride, dtype, layout, device,
                                  pin_memory);
}

void check_out(std::string_view op, const Tensor& out) {
  SB_CHECK(out.defined(), op, ": out: expected a tensor, got an undefined one");
}
void check_self(std::string_view op, const Tensor& self) {
  SB_CHECK(self.defined(), op, ": argument self: expected a tensor, got an undefined one");
}

// out= of an operator whose result has no elements yet: the shape of the result, after the checks
// of making it and of copying it to out, whose elements stay.
Tensor resize_to_result(std::string_view op, const Tensor& meta_result, const Tensor& out) {
  check_out(op, out);
  if (any_symbolic(out, meta_result))
    resize_symbolic_output(out, meta_result.sym_sizes());
  else if (out.sizes() == meta_result.sizes())
    check_no_internal_overlap(out);
  else
    resize_output(out, meta_result.sizes());
  return out;
}
Tensor empty_strided_to(std::string_view op, SymIntArrayRef size, SymIntArrayRef stride,
                        const Tensor& out) {
  check_out(op, out);
  return resize_to_result(
      op, empty_strided(size, stride, out.dtype(), std::nullopt, Device(DeviceType::Meta)), out);
}

Tensor empty_permuted_any(SymIntArrayRef size, IntArrayRef physical_layout, SB_TENSOR_OPTIONS) {
  const auto rank = static_cast<int64_t>(size.size());
  const auto fits = [&](bool truth) {
    SB_CHECK(truth, "empty_permuted: argument physical_layout: expected a permutation of 0 to ",
             rank - 1, " for the size ", shape_text(size), ", got ", shape_text(physical_layout));
  };
  fits(physical_layout.size() == size.size());
  std::vector<bool> seen(size.size());
  SymDimVector strides(size.size());
  SymInt stride = 1;
  for (size_t i = size.size(); i-- > 0;) {
    fits(physical_layout[i] >= 0 && physical_layout[i] < rank);
    const auto d = static_cast<size_t>(physical_layout[i]);
    fits(!seen[d]);
    seen[d] = true;
    strides[d] = stride;
    stride *= sym_max(size[d], SymInt(1));
  }
  return empty_strided(size, SymIntArrayRef(strides), dtype, layout, device, pin_memory);
}

// out= of what fills a shape with a number.
Tensor fill_resized(std::string_view op, SymIntArrayRef size, const Scalar& value,
                    const Tensor& out) {
  check_out(op, out);
  check_scalar_fits(value, out.dtype());
  if (any_symbolic(out, size))
    resize_symbolic_output(out, size);
  else
    resize_output(out, size.expect_ints());
  return fill_(out, value);
}

// The writes of a factory to what it has just made are no writes of the program's: it guards them
// from being counted, so that a new tensor is at version 0.

Tensor zeros_any(SymIntArrayRef size, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return zero_(empty(size, dtype, layout, device, pin_memory, std::nullopt));
}
Tensor ones_any(SymIntArrayRef size, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return fill_(empty(size, dtype, layout, device, pin_memory, std::nullopt), 1);
}
Tensor full_any(SymIntArrayRef size, const Scalar& value, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  if (!dtype) dtype = value.dtype();
  return fill_(empty(size, dtype, layout, device, pin_memory, std::nullopt), value);
}
Tensor scalar_tensor_any(const Scalar& s, SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return fill_(empty(SymIntArrayRef(), dtype, layout, device, pin_memory, std::nullopt), s);
}

Tensor empty_like_any(const Tensor& self, SB_TENSOR_OPTIONS,
                      std::optional<MemoryFormat> memory_format) {
  check_self("empty_like", self);
  const DType new_dtype = dtype.value_or(self.dtype());
  const Device new_device = device.value_or(self.device());
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (self.is_symbolic()) {
    const SymDimVector strides = format == MemoryFormat::Preserve
                                     ? internal::dense_strides_like(self)
                                     : strides_in_format("empty_like", self.sym_sizes(), format);
    return empty_strided(self.sym_sizes(), SymIntArrayRef(strides), new_dtype, layout, new_device,
                         pin_memory);
  }
  if (format != MemoryFormat::Preserve)
    return empty(self.sizes(), new_dtype, layout, new_device, pin_memory, format);
  return empty_strided(self.sizes(), empty_like_strides(self), new_dtype, layout, new_device,
                       pin_memory);
}

Tensor full_like_any(const Tensor& self, const Scalar& value, SB_TENSOR_OPTIONS,
                     std::optional<MemoryFormat> memory_format) {
  const internal::BelowRecordingGuard fresh;
  return fill_(empty_like(self, dtype, layout, device, pin_memory, memory_format), value);
}
Tensor full_like_out_any(const Tensor& self, const Scalar& value,
                         std::optional<MemoryFormat> memory_format, const Tensor& out) {
  check_out("full_like", out);
  const Tensor result =
      full_like_any(self, value, out.dtype(), std::nullopt, out.device(), {}, memory_format);
  copy_result_to_out("full_like", result, out);
  return out;
}

Tensor new_empty_any(const Tensor& self, SymIntArrayRef size, SB_TENSOR_OPTIONS) {
  check_self("new_empty", self);
  return empty(size, dtype.value_or(self.dtype()), layout, device.value_or(self.device()),
               pin_memory, std::nullopt);
}
Tensor new_empty_strided_any(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride,
                             SB_TENSOR_OPTIONS) {
  check_self("new_empty_strided", self);
  return empty_strided(size, stride, dtype.value_or(self.dtype()), layout,
                       device.value_or(self.device()), pin_memory);
}
Tensor new_full_any(const Tensor& self, SymIntArrayRef size, const Scalar& value,
                    SB_TENSOR_OPTIONS) {
  const internal::BelowRecordingGuard fresh;
  return fill_(new_empty_any(self, size, dtype, layout, device, pin_memory), value);
}
Tensor new_full_out_any(const Tensor& self, SymIntArrayRef size, const Scalar& value,
                        const Tensor& out) {
  check_out("new_full", out);
  const Tensor result =
      new_full_any(self, size, value, out.dtype(), std::nullopt, out.device(), std::nullopt);
  copy_result_to_out("new_full", result, out);
  return out;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, empty)
      .kernel(DispatchKey::BackendSelect, EmptySelect())
      .cpu(EmptyAt<DeviceType::CPU>())
      .meta(EmptyAtMeta());
  define(m, empty_strided)
      .kernel(DispatchKey::BackendSelect, empty_strided_select)
      .cpu(empty_strided_at<DeviceType::CPU>)
      .meta(empty_strided_at_meta);
  define(m, empty_out)
      .composite_explicit(
          [](SymIntArrayRef size, std::optional<MemoryFormat> memory_format, const Tensor& out) {
            check_out("empty", out);
            SB_CHECK(!memory_format, "empty: argument memory_format: not taken together with out");
            return resize_to_result(
                "empty", empty(size, out.dtype(), std::nullopt, Device(DeviceType::Meta)), out);
          });
  define(m, empty_strided_out)
      .composite_explicit([](SymIntArrayRef size, SymIntArrayRef stride, const Tensor& out) {
        return empty_strided_to("empty_strided", size, stride, out);
      });

  define(m, empty_permuted)
      .composite_explicit(empty_permuted_any)
      .out(empty_permuted_out, [](SymIntArrayRef size, IntArrayRef physical_layout,
                                  const Tensor& out) {
        check_out("empty_permuted", out);
        return resize_to_result("empty_permuted",
                                empty_permuted_any(size, physical_layout, out.dtype(), std::nullopt,
                                                   Device(DeviceType::Meta), std::nullopt),
                                out);
      });

  define(m, zeros).composite_explicit(zeros_any).out(
      zeros_out,
      [](SymIntArrayRef size, const Tensor& out) { return fill_resized("zeros", size, 0, out); });
  define(m, ones).composite_explicit(ones_any).out(
      ones_out,
      [](SymIntArrayRef size, const Tensor& out) { return fill_resized("ones", size, 1, out); });
  define(m, full).composite_explicit(full_any).out(
      full_out, [](SymIntArrayRef size, const Scalar& value, const Tensor& out) {
        return fill_resized("full", size, value, out);
      });
  define(m, scalar_tensor)
      .composite_explicit(scalar_tensor_any)
      .out(scalar_tensor_out, [](const Scalar& s, const Tensor& out) {
        return fill_resized("scalar_tensor", {}, s, out);
      });
}

}  // namespace

// For explain_factories.cc.
namespace internal {
SourceLocation place_of_factories();
SourceLocation place_of_factories() { return SourceLocation::current(); }
}  // namespace internal

namespace {

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, empty_like)
      .composite_explicit(empty_like_any)
      .out(empty_like_out,
           [](const Tensor& self, std::optional<MemoryFormat> memory_format, const Tensor& out) {
             check_self("empty_like", self);
             return resize_to_result("empty_like",
                                     empty_like_any(self, self.dtype(), {},
                                                    Device(DeviceType::Meta), {}, memory_format),
                                     out);
           });
  define(m, zeros_like)
      .composite_explicit(
          [](const Tensor& self, SB_TENSOR_OPTIONS, std::optional<MemoryFormat> format) {
            const internal::BelowRecordingGuard fresh;
            return zero_(empty_like(self, dtype, layout, device, pin_memory, format));
          })
      .out(zeros_like_out,
           [](const Tensor& self, std::optional<MemoryFormat> format, const Tensor& out) {
             return full_like_out_any(self, 0, format, out);
           });
  define(m, ones_like)
      .composite_explicit(
          [](const Tensor& self, SB_TENSOR_OPTIONS, std::optional<MemoryFormat> format) {
            return full_like_any(self, 1, dtype, layout, device, pin_memory, format);
          })
      .out(ones_like_out,
           [](const Tensor& self, std::optional<MemoryFormat> format, const Tensor& out) {
             return full_like_out_any(self, 1, format, out);
           });
  define(m, full_like).composite_explicit(full_like_any).out(full_like_out, full_like_out_any);

  define(m, new_empty)
      .composite_explicit(new_empty_any)
      .out(new_empty_out, [](const Tensor&, SymIntArrayRef size, const Tensor& out) {
        check_out("new_empty", out);
        return resize_to_result(
            "new_empty", empty(size, out.dtype(), std::nullopt, Device(DeviceType::Meta)), out);
      });
  define(m, new_empty_strided)
      .composite_explicit(new_empty_strided_any)
      .out(new_empty_strided_out,
           [](const Tensor&, SymIntArrayRef size, SymIntArrayRef stride, const Tensor& out) {
             return empty_strided_to("new_empty_strided", size, stride, out);
           });
  define(m, new_zeros)
      .composite_explicit([](const Tensor& self, SymIntArrayRef size, SB_TENSOR_OPTIONS) {
        const internal::BelowRecordingGuard fresh;
        return zero_(new_empty_any(self, size, dtype, layout, device, pin_memory));
      })
      .out(new_zeros_out, [](const Tensor& self, SymIntArrayRef size, const Tensor& out) {
        return new_full_out_any(self, size, 0, out);
      });
  define(m, new_ones)
      .composite_explicit([](const Tensor& self, SymIntArrayRef size, SB_TENSOR_OPTIONS) {
        return new_full_any(self, size, 1, dtype, layout, device, pin_memory);
      })
      .out(new_ones_out, [](const Tensor& self, SymIntArrayRef size, const Tensor& out) {
        return new_full_out_any(self, size, 1, out);
      });
  define(m, new_full).composite_explicit(new_full_any).out(new_full_out, new_full_out_any);
}

#undef SB_OPTION_REFS

}  // namespace
}  // namespace sb
