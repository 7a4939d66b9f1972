// What is done with the factors of LU.

#ifndef SWITCHBOARD_OPS_LINALG_LU_H_
#define SWITCHBOARD_OPS_LINALG_LU_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// X with A X = B, or X A = B if not left, or the same of A^H if adjoint; LU and pivots are those of
// linalg_lu_factor(A). Batches are broadcast. RuntimeError for shapes, dtypes and pivots that do
// not fit. lu_solve is the same of other arguments.
SB_OP(linalg_lu_solve,
      "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
      "adjoint=False) -> Tensor");
SB_OP(linalg_lu_solve_out, out_of(linalg_lu_solve, "out"));
SB_OP(lu_solve, "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor");
SB_OP(lu_solve_out, out_of(lu_solve, "out"));

// The permutation matrix and the factors, row-major; empty where they are not asked for. ValueError
// for pivots of another shape, RuntimeError for other wrong ones.
SB_OP(lu_unpack,
      "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
      "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)");
// A = P L U.
SB_OP(linalg_lu, "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)");

// log(det(A)); NaN where the determinant of a real matrix is negative.
SB_OP(logdet, "aten::logdet(Tensor self) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_LU_H_
