// What operators that index along one dimension share.

#ifndef SWITCHBOARD_OPS_INDEXING_ALONG_DIM_H_
#define SWITCHBOARD_OPS_INDEXING_ALONG_DIM_H_

#include <string_view>
#include <utility>

#include "switchboard/core/tensor.h"
#include "switchboard/ops/indexing/indexed_walk.h"

namespace sb {

// The dtypes of indices.
inline bool is_place_dtype(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }
// `index` itself where it is int64, else a copy that is.
Tensor as_int64(const Tensor& index);
// The smallest and the largest element of an int64 tensor that is not empty.
std::pair<int64_t, int64_t> index_bounds(const Tensor& index);
// Throws E unless every element of the int64 tensor is in [lowest, size).
template <class E>
void check_indices(std::string_view op, const Tensor& index, int64_t lowest, int64_t size) {
  if (index.numel() == 0) return;
  const auto [smallest, largest] = index_bounds(index);
  if (smallest >= lowest && largest < size) return;
  internal::throw_error<E>(op, ": index ", smallest < lowest ? smallest : largest,
                           " is out of range for size ", size);
}

// A dimension that wrap_dim has let pass, counted from the first.
inline int64_t from_first(int64_t dim, const Tensor& t) {
  return dim < 0 ? dim + (t.dim() == 0 ? 1 : t.dim()) : dim;
}

// Whether the index has an element for each element of the other tensor (gather, scatter), or one
// for all elements at a place of the dimension (index_select, index_add).
enum class IndexShape : uint8_t { Full, Vector };

// A walk over CPU tensors. `dim` is wrapped; a tensor without dimensions counts as having one.
// Full: over the shape of `index`, which `other` and, apart from `dim`, `table` may exceed. Vector:
// over the shape of `other`. `index` is int64 and has been checked.
IndexedWalk walk_along(const Tensor& table, int64_t dim, const Tensor& index, IndexShape shape,
                       const Tensor& other);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_ALONG_DIM_H_
