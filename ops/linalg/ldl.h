// Factors of symmetric and Hermitian matrices that need not be positive definite, by LAPACK alone:
// RuntimeError without one.

#ifndef SWITCHBOARD_OPS_LINALG_LDL_H_
#define SWITCHBOARD_OPS_LINALG_LDL_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// A = L D L^T, or A = L D L^H if hermitian, with L and D, which has blocks of one and two rows, in
// one lower triangle. A's lower triangle is read. info is 0, or the first i, counted from 1, where
// D is singular: RuntimeError if check_errors.
SB_OP(
    linalg_ldl_factor_ex,
    "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
    "(Tensor LD, Tensor pivots, Tensor info)");
SB_OP(
    linalg_ldl_factor,
    "aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)");
// X with A X = B. Batches are broadcast.
SB_OP(linalg_ldl_solve,
      "aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> "
      "Tensor");
SB_OP(linalg_ldl_solve_out, out_of(linalg_ldl_solve, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_LDL_H_
