// Elements written to places chosen along one dimension.

#ifndef SWITCHBOARD_OPS_INDEXING_SCATTER_H_
#define SWITCHBOARD_OPS_INDEXING_SCATTER_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// self[index[i][j]][j] = src[i][j] for dim 0, and so for any other. `index` is int64 and no larger
// than src, nor than self apart from `dim`. RuntimeError for an index out of range. Of several
// elements for one place the last stays, or all are reduced: by "add" or "multiply" in scatter, by
// "sum", "prod", "mean", "amax" or "amin" in scatter_reduce.
SB_OP(scatter, "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor");
SB_OP(scatter_, inplace_of(scatter));
SB_OP(scatter_out, out_of(scatter, "src_out"));
SB_OP(scatter_value,
      "aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor");
SB_OP(scatter_value_, inplace_of(scatter_value));
SB_OP(scatter_value_out, out_of(scatter_value, "value_out"));
SB_OP(scatter_with_reduce,
      "aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) "
      "-> Tensor");
SB_OP(scatter_with_reduce_, inplace_of(scatter_with_reduce));
SB_OP(scatter_with_reduce_out, out_of(scatter_with_reduce, "reduce_out"));
SB_OP(scatter_value_reduce,
      "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str "
      "reduce) -> Tensor");
SB_OP(scatter_value_reduce_, inplace_of(scatter_value_reduce));
SB_OP(scatter_value_reduce_out, out_of(scatter_value_reduce, "value_reduce_out"));
SB_OP(scatter_add, "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor");
SB_OP(scatter_add_, inplace_of(scatter_add));
SB_OP(scatter_add_out, out_of(scatter_add, "out"));
// Without include_self the elements that are written to do not count themselves.
SB_OP(scatter_reduce,
      "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, "
      "*, bool include_self=True) -> Tensor");
SB_OP(scatter_reduce_, inplace_of(scatter_reduce));
SB_OP(scatter_reduce_out, out_of(scatter_reduce, "two_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_SCATTER_H_
