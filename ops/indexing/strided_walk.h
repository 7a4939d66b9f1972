// A walk over several strided arrays of one shape, in row-major order: for operators that look at
// each element once and have no TensorIterator.

#ifndef SWITCHBOARD_OPS_INDEXING_STRIDED_WALK_H_
#define SWITCHBOARD_OPS_INDEXING_STRIDED_WALK_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "switchboard/ops/shape/dims.h"

namespace sb {

// Strides in bytes of t broadcast to `sizes`, which it fits: 0 in dimensions that it lacks.
DimVector broadcast_byte_strides(const Tensor& t, IntArrayRef sizes);

// Drops dimensions of size 1 and merges those that are one in all arrays. `strides` are as many as
// sizes, in any unit; a dimension is merged into its outer neighbour only where mergeable(inner).
template <size_t n, class Mergeable>
void coalesce(DimVector* sizes, std::array<DimVector, n>* strides, Mergeable&& mergeable) {
  size_t last = 0;  // of those kept, plus 1
  for (size_t d = 0; d < sizes->size(); ++d) {
    const int64_t size = (*sizes)[d];
    if (size == 1) continue;
    const bool merge =
        last > 0 && mergeable(d) && std::ranges::all_of(*strides, [&](const DimVector& s) {
          int64_t span;
          return !__builtin_mul_overflow(s[d], size, &span) && s[last - 1] == span;
        });
    if (merge) {
      (*sizes)[last - 1] *= size;
      for (DimVector& s : *strides) s[last - 1] = s[d];
    } else {
      (*sizes)[last] = size;
      for (DimVector& s : *strides) s[last] = s[d];
      ++last;
    }
  }
  sizes->resize(last);
  for (DimVector& s : *strides) s.resize(last);
}

// Calls f(pointers, strides, count) for runs that cover the shape in row-major order. `strides` are
// in bytes.
template <size_t n, class F>
void strided_walk(DimVector sizes, std::array<DimVector, n> strides, std::array<char*, n> at,
                  F&& f) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  coalesce(&sizes, &strides, [](size_t) { return true; });
  std::array<int64_t, n> inner{};
  const size_t outer = sizes.empty() ? 0 : sizes.size() - 1;
  if (!sizes.empty()) {
    for (size_t i = 0; i < n; ++i) inner[i] = strides[i][outer];
  }
  const int64_t count = sizes.empty() ? 1 : sizes[outer];
  DimVector position(outer, 0);
  while (true) {
    f(at, inner, count);
    size_t d = outer;
    for (; d-- > 0;) {
      if (++position[d] < sizes[d]) {
        for (size_t i = 0; i < n; ++i) at[i] += strides[i][d];
        break;
      }
      position[d] = 0;
      for (size_t i = 0; i < n; ++i) at[i] -= strides[i][d] * (sizes[d] - 1);
    }
    if (d == SIZE_MAX) return;
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_STRIDED_WALK_H_
