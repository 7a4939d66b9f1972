// Inverses and solutions of tensors that are matrices in other shapes, and older forms.

#ifndef SWITCHBOARD_OPS_LINALG_TENSOR_SOLVE_H_
#define SWITCHBOARD_OPS_LINALG_TENSOR_SOLVE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The inverse of the matrix whose rows are self's first `ind` dimensions. RuntimeError unless it is
// square and regular. As `torch.linalg.tensorinv`.
SB_OP(linalg_tensorinv, "aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor");
SB_OP(linalg_tensorinv_out, out_of(linalg_tensorinv, "out"));
// X with tensordot(self, X, X.dim()) = other, the dimensions `dims` of self moved to its end first.
SB_OP(linalg_tensorsolve,
      "aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor");
SB_OP(linalg_tensorsolve_out, out_of(linalg_tensorsolve, "out"));
// The powers 0 to N - 1 of each element, in a new last dimension; N is x's last size by default.
SB_OP(linalg_vander, "aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor");
// linalg_solve_triangular with its arguments reversed, and what A was broadcast to.
SB_OP(triangular_solve,
      "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
      "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)");
// A = U H, of a matrix U with orthonormal columns and a positive semidefinite one; A has at least
// as many rows as columns.
SB_OP(linalg_polar, "aten::linalg_polar(Tensor A) -> (Tensor U, Tensor H)");
// The positive semidefinite root of a Hermitian matrix, whose lower triangle is read. Negative
// eigenvalues count as 0.
SB_OP(linalg_matrix_sqrth, "aten::linalg_matrix_sqrth(Tensor self) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_TENSOR_SOLVE_H_
