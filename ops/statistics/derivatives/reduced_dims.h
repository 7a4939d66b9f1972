// What a reduction took away, put back: for the gradients of reductions.

#ifndef SWITCHBOARD_OPS_STATISTICS_DERIVATIVES_REDUCED_DIMS_H_
#define SWITCHBOARD_OPS_STATISTICS_DERIVATIVES_REDUCED_DIMS_H_

#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {

// The dimensions of a reduction; none stands for all.
inline IntArrayRef reduced_dims(const OptionalIntArrayRef& dims) {
  return dims ? *dims : IntArrayRef();
}

// `t`, of the shape of a result of the reduction of a tensor of rank `rank`, with the reduced
// dimensions as dimensions of size 1. Where all were reduced, `t` itself broadcasts.
inline Tensor with_reduced_dims(const Tensor& t, IntArrayRef dims, int64_t rank, bool keepdim) {
  if (keepdim || rank == 0 || dims.empty()) return t;
  const DimSet reduced = dim_set("reduction", dims, rank);
  Tensor kept = t;
  for (int64_t d = 0; d < rank; ++d)
    if (reduced[static_cast<size_t>(d)]) kept = unsqueeze(kept, d);
  return kept;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_DERIVATIVES_REDUCED_DIMS_H_
