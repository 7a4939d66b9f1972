#include "switchboard/core/empty_tensor.h"

#include "absl/strings/str_join.h"
#include "switchboard/core/checked_math.h"

namespace sb {

namespace {

// Elements of a quantized dtype mean nothing without a Quantizer, and kernels of plain tensors must
// never see them.
void check_keys_fit(DispatchKeySet keys, DType dtype) {
  SB_CHECK(!is_quantized(dtype) || keys.has(DispatchKey::Quantized), "a tensor of ",
           to_string(dtype), " is made by quantize_per_tensor, with a scale");
}

// In another format, of many dimensions, or quantized.
[[gnu::noinline]] Tensor make_empty_any(IntArrayRef sizes, Allocator* allocator,
                                        DispatchKeySet keys, DType dtype, Device device,
                                        MemoryFormat format) {
  check_keys_fit(keys, dtype);
  // The shape first: it checks everything, and a storage of unknown size cannot be made.
  auto impl = make_intrusive<TensorImpl>(nullptr, keys, dtype, device);
  impl->set_sizes_contiguous(sizes, format);
  const size_t nbytes = static_cast<size_t>(impl->numel()) * itemsize(dtype);
  impl->set_storage(make_storage(nbytes, allocator, device.type));
  return Tensor(std::move(impl));
}

// One frame for both entries, which are flattened: every operator that makes its result comes
// through here.
[[gnu::always_inline]] inline Tensor make_empty(IntArrayRef sizes, Allocator* allocator,
                                                DispatchKeySet keys, DType dtype, Device device,
                                                MemoryFormat format) {
  if (format != MemoryFormat::Contiguous || sizes.size() > SizesAndStrides::kInline ||
      is_quantized(dtype)) [[unlikely]] {
    return make_empty_any(sizes, allocator, keys, dtype, device, format);
  }
  const int64_t numel = internal::checked_numel(sizes, dtype);
  return Tensor(make_intrusive<TensorImpl>(sizes, numel, allocator, keys, dtype, device));
}

}  // namespace

[[gnu::flatten]] Tensor empty_generic(IntArrayRef sizes, Allocator* allocator, DispatchKeySet keys,
                                      DType dtype, Device device, MemoryFormat format) {
  return make_empty(sizes, allocator, keys, dtype, device, format);
}

Tensor empty_strided_generic(IntArrayRef sizes, IntArrayRef strides, Allocator* allocator,
                             DispatchKeySet keys, DType dtype, Device device) {
  check_keys_fit(keys, dtype);
  const int64_t nbytes =
      checked_storage_bytes(sizes, strides, 0, static_cast<int64_t>(itemsize(dtype)));
  auto impl = make_intrusive<TensorImpl>(nullptr, keys, dtype, device);
  impl->set_sizes_and_strides(sizes, strides);
  impl->set_storage(make_storage(static_cast<size_t>(nbytes), allocator, device.type));
  return Tensor(std::move(impl));
}

[[gnu::flatten]] Tensor empty_on(Device device, IntArrayRef sizes, DType dtype,
                                 MemoryFormat format) {
  return make_empty(sizes, get_allocator(device.type), fresh_key_set(device.type), dtype, device,
                    format);
}

Tensor empty_strided_on(Device device, IntArrayRef sizes, IntArrayRef strides, DType dtype) {
  return empty_strided_generic(sizes, strides, get_allocator(device.type),
                               fresh_key_set(device.type), dtype, device);
}

Tensor alias_with(const Tensor& base, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  SB_CHECK(base.storage(), "as_strided: ", base.describe(), " has no storage");
  const int64_t itemsize = static_cast<int64_t>(base.itemsize());
  const int64_t needed = checked_storage_bytes(sizes, strides, offset, itemsize);
  const size_t nbytes = base.storage()->nbytes();
  SB_CHECK(static_cast<size_t>(needed) <= nbytes, "setStorage: sizes [", absl::StrJoin(sizes, ", "),
           "], strides [", absl::StrJoin(strides, ", "), "], storage offset ", offset,
           ", and itemsize ", itemsize, " requiring a storage size of ", needed,
           " are out of bounds for storage of size ", nbytes);
  return alias_with_unchecked(base, sizes, strides, offset);
}

namespace {

// A tensor on base's storage that is its view in everything but the shape, which is unset.
IntrusivePtr<TensorImpl> make_view(const TensorImpl& base, int64_t offset) {
  auto view =
      make_intrusive<TensorImpl>(base.storage(), base.key_set(), base.dtype(), base.device());
  view->set_storage_offset(offset);
  if (base.mode_data()) view->set_mode_data(base.mode_data());
  if (base.quantizer()) view->set_quantizer(base.quantizer());
  view->share_version_counter(base);
  return view;
}

}  // namespace

Tensor alias_with_unchecked(const Tensor& base, IntArrayRef sizes, IntArrayRef strides,
                            int64_t offset) {
  IntrusivePtr<TensorImpl> view = make_view(*base.impl(), offset);
  view->set_sizes_and_strides(sizes, strides);
  return Tensor(std::move(view));
}

Tensor empty_with_symbols(SymIntArrayRef sizes, SymIntArrayRef strides, DType dtype) {
  const SymDimVector contiguous = strides.empty() ? contiguous_strides(sizes) : SymDimVector();
  const Tensor result = empty_on(DeviceType::Meta, {0}, dtype);
  TensorImpl* const impl = result.impl();
  impl->set_sym_sizes_and_strides(sizes, strides.empty() ? SymIntArrayRef(contiguous) : strides, 0);
  impl->set_storage(make_storage(
      static_cast<size_t>(checked_storage_bytes(impl->hint_sizes(), impl->hint_strides(), 0,
                                                static_cast<int64_t>(itemsize(dtype)))),
      get_allocator(DeviceType::Meta), DeviceType::Meta));
  return result;
}

Tensor alias_with_symbols(const Tensor& base, SymIntArrayRef sizes, SymIntArrayRef strides,
                          const SymInt& offset) {
  IntrusivePtr<TensorImpl> view = make_view(*base.impl(), 0);
  view->set_sym_sizes_and_strides(sizes, strides, offset);
  return Tensor(std::move(view));
}

[[gnu::cold, gnu::noinline]] static Tensor swap_symbols(const Tensor& base, size_t a, size_t b) {
  SymDimVector sizes(base.sym_sizes().begin(), base.sym_sizes().end());
  SymDimVector strides(base.sym_strides().begin(), base.sym_strides().end());
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return alias_with_symbols(base, sizes, strides, base.sym_storage_offset());
}

Tensor alias_transposed(const Tensor& base, size_t dim0, size_t dim1) {
  if (base.impl()->symbolic_shape()) [[unlikely]]
    return swap_symbols(base, dim0, dim1);
  IntrusivePtr<TensorImpl> view = make_view(*base.impl(), base.storage_offset());
  view->set_transposed(*base.impl(), dim0, dim1);
  return Tensor(std::move(view));
}

}  // namespace sb
