// Elements chosen along one dimension.

#ifndef SWITCHBOARD_OPS_INDEXING_GATHER_H_
#define SWITCHBOARD_OPS_INDEXING_GATHER_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// out[i][j] = self[index[i][j]][j] for dim 0, and so for any other. `index` is int64, of self's
// rank, and no larger than self apart from `dim`. RuntimeError for an index out of range.
SB_OP(gather,
      "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor");
SB_OP(gather_out, out_of(gather, "out"));
// The same, with self and indices broadcast apart from `dim`, and both flattened without one.
SB_OP(take_along_dim, "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor");
SB_OP(take_along_dim_out, out_of(take_along_dim, "out"));
// out[i] = self[index[i]]: whole parts of self along `dim`. `index` is an int32 or int64 vector, or
// 0-dim. IndexError for an index out of range.
SB_OP(index_select, "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor");
SB_OP(index_select_out, out_of(index_select, "out"));
// Elements of self as if it were flat, in index's shape; negative indices count from the end.
SB_OP(take, "aten::take(Tensor self, Tensor index) -> Tensor");
SB_OP(take_out, out_of(take, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_GATHER_H_
