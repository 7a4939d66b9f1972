#include "switchboard/ops/shape/memory_format.h"

#include <utility>

#include "switchboard/ops/shape/size_lists.h"

namespace sb {
namespace {

constexpr size_t kChannelsLast[] = {1, 3, 2, 0};
constexpr size_t kChannelsLast3d[] = {1, 4, 3, 2, 0};

// As c10::is_channels_last_strides_2d_s4 and its 3-d sister: `order` is the dimensions, fastest
// first.
template <SizeType Int, size_t N>
bool is_strided_like(SizesRef<Int> sizes, SizesRef<Int> strides, const size_t (&order)[N]) {
  if (sizes.size() != N || same_size(strides[1], Int(0))) return false;
  Int min = 0;
  for (size_t d : order) {
    if (same_size(sizes[d], Int(0)) || is_less(strides[d], min)) return false;
    // Ambiguous cases, N111 and slices of it, are contiguous.
    if (d == 0 && same_size(min, strides[1])) return false;
    min = strides[d] * sizes[d];
  }
  return true;
}

// Whether no sizes make it so. Contiguous strides never do, and one that is smaller than what lies
// inside it will not.
template <size_t N>
bool is_never_strided_like(SymIntArrayRef sizes, SymIntArrayRef strides, const size_t (&order)[N]) {
  if (sizes.size() != N || known(strides[1] == 0)) return true;
  const SymDimVector contiguous = contiguous_strides(sizes);
  bool is_contiguous = true;
  for (size_t d = 0; d < N && is_contiguous; ++d)
    is_contiguous = known(strides[d] == contiguous[d]);
  if (is_contiguous) return true;
  SymInt min = 0;
  for (size_t d : order) {
    if (known(sizes[d] == 0) || known(strides[d] < min)) return true;
    min = strides[d] * sizes[d];
  }
  return false;
}

template <size_t N>
bool is_in_order(const Tensor& t, const size_t (&order)[N]) {
  if (!t.is_symbolic()) [[likely]]
    return is_strided_like<int64_t>(t.sizes(), t.strides(), order);
  return !is_never_strided_like(t.sym_sizes(), t.sym_strides(), order) &&
         is_strided_like<SymInt>(t.sym_sizes(), t.sym_strides(), order);
}

template <SizeType Int>
SizeVector<Int> dense_strides(SizesRef<Int> sizes, absl::Span<const size_t> order) {
  SizeVector<Int> strides(sizes.size());
  Int stride = 1;
  for (size_t d : order) {
    strides[d] = stride;
    stride = product_of(stride, sym_max(sizes[d], Int(1)));
  }
  return strides;
}

}  // namespace

MemoryFormat suggest_memory_format(const Tensor& t) {
  if (is_in_order(t, kChannelsLast)) return MemoryFormat::ChannelsLast;
  if (is_in_order(t, kChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

template <SizeType Int>
SizeVector<Int> strides_in_format(SizesRef<Int> sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return {};
  if constexpr (std::same_as<Int, int64_t>) internal::checked_numel(sizes, DType::UInt8);
  const absl::Span<const size_t> order = format == MemoryFormat::ChannelsLast
                                             ? absl::MakeConstSpan(kChannelsLast)
                                             : absl::MakeConstSpan(kChannelsLast3d);
  SB_CHECK(format != MemoryFormat::Preserve && sizes.size() == order.size(), "memory format ",
           to_string(format), ": got sizes ", shape_text(sizes));
  return dense_strides<Int>(sizes, order);
}
template SizeVector<int64_t> strides_in_format<int64_t>(IntArrayRef, MemoryFormat);
template SizeVector<SymInt> strides_in_format<SymInt>(SymIntArrayRef, MemoryFormat);

absl::InlinedVector<size_t, 5> dims_by_stride(IntArrayRef sizes, IntArrayRef strides) {
  const size_t rank = sizes.size();
  absl::InlinedVector<size_t, 5> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  // The same insertion sort as TensorIterator's.
  const auto compare = [&](size_t a, size_t b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  for (size_t i = 1; i < rank; ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare(order[j], order[at]);
      if (c < 0) break;
      if (c > 0) {
        std::swap(order[j], order[at]);
        at = j;
      }
    }
  }
  return order;
}

absl::InlinedVector<int64_t, 5> infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
  absl::InlinedVector<int64_t, 5> dense(sizes.size());
  int64_t stride = 1;
  for (size_t d : dims_by_stride(sizes, strides)) {
    dense[d] = stride;
    if (sizes[d] > 1) stride *= sizes[d];
  }
  return dense;
}

absl::InlinedVector<int64_t, 5> empty_like_strides(const Tensor& t) {
  if (!t.impl()->is_non_overlapping_and_dense()) return infer_dense_strides(t.sizes(), t.strides());
  return {t.strides().begin(), t.strides().end()};
}

}  // namespace sb
