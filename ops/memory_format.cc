#include "switchboard/ops/memory_format.h"

#include <utility>

namespace sb {
namespace {

// As c10::is_channels_last_strides_2d_s4 and its 3-d sister: `order` is the dimensions, fastest
// first.
template <size_t N>
bool is_strided_like(IntArrayRef sizes, IntArrayRef strides, const size_t (&order)[N]) {
  if (sizes.size() != N || strides[1] == 0) return false;
  int64_t min = 0;
  for (size_t d : order) {
    if (sizes[d] == 0 || strides[d] < min) return false;
    // Ambiguous cases, N111 and slices of it, are contiguous.
    if (d == 0 && min == strides[1]) return false;
    min = strides[d];
    if (sizes[d] > 1) min *= sizes[d];
  }
  return true;
}

constexpr size_t kChannelsLast[] = {1, 3, 2, 0};
constexpr size_t kChannelsLast3d[] = {1, 4, 3, 2, 0};

}  // namespace

MemoryFormat suggest_memory_format(const Tensor& t) {
  if (is_strided_like(t.sizes(), t.strides(), kChannelsLast)) return MemoryFormat::ChannelsLast;
  if (is_strided_like(t.sizes(), t.strides(), kChannelsLast3d)) return MemoryFormat::ChannelsLast3d;
  return MemoryFormat::Contiguous;
}

absl::InlinedVector<int64_t, 5> infer_dense_strides(IntArrayRef sizes, IntArrayRef strides) {
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
  absl::InlinedVector<int64_t, 5> dense(rank);
  int64_t stride = 1;
  for (size_t d : order) {
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
