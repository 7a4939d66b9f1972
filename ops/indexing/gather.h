// Elements chosen along one dimension.

#ifndef SWITCHBOARD_OPS_INDEXING_GATHER_H_
#define SWITCHBOARD_OPS_INDEXING_GATHER_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// out[i][j] = self[index[i][j]][j] for dim 0, and so for any other. `index` is int64, of self's
// rank, and no larger than self apart from `dim`. RuntimeError for an index out of range.
SB_STRUCTURED_NO_INPLACE(
    gather, "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    "out");
// The same, with self and indices broadcast apart from `dim`, and both flattened without one.
SB_STRUCTURED_NO_INPLACE(
    take_along_dim, "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    "out");
// out[i] = self[index[i]]: whole parts of self along `dim`. `index` is an int32 or int64 vector, or
// 0-dim. IndexError for an index out of range.
SB_STRUCTURED_NO_INPLACE(index_select,
                         "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", "out");
// Elements of self as if it were flat, in index's shape; negative indices count from the end.
SB_STRUCTURED_NO_INPLACE(take, "aten::take(Tensor self, Tensor index) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_GATHER_H_
