// The condition number: how much a solution of linear equations may change with the right side.

#ifndef SWITCHBOARD_OPS_LINALG_CONDITION_H_
#define SWITCHBOARD_OPS_LINALG_CONDITION_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of the matrices in the last two dimensions: the norm (linalg_matrix_norm) of each times that of
// its inverse, infinite for singular ones. p is 2, which None means, -2, 1, -1, inf, -inf, "fro" or
// "nuc"; only 2 and -2, the ratio of singular values, are for other than square matrices. 0 for a
// matrix without elements. ValueError for another p.
SB_OP(linalg_cond, "aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor");
SB_OP(linalg_cond_out, out_of(linalg_cond, "out"));
SB_OP(linalg_cond_str, "aten::linalg_cond.p_str(Tensor self, str p) -> Tensor");
SB_OP(linalg_cond_str_out, out_of(linalg_cond_str, "p_str_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_CONDITION_H_
