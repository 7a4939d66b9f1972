// Indices turned into offsets from a tensor's first element, in bytes: what take, put, index and
// index_put walk over.

#ifndef SWITCHBOARD_OPS_INDEXING_OFFSETS_H_
#define SWITCHBOARD_OPS_INDEXING_OFFSETS_H_

#include "switchboard/core/tensor.h"
#include "switchboard/ops/indexing/indexed_walk.h"

namespace sb {

// Of elements of `self` as if it were flat, in row-major order; a contiguous int64 tensor of
// index's shape. Negative indices count from the end. Throws IndexError for one out of range.
Tensor flat_offsets(const char* op, const Tensor& self, const Tensor& index);

// A walk over the shape of `other`, which is that of `offsets`.
IndexedWalk walk_offsets(const Tensor& table, const Tensor& offsets, const Tensor& other);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_OFFSETS_H_
