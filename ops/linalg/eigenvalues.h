// Eigenvalues and eigenvectors of the square matrices in the last two dimensions.

#ifndef SWITCHBOARD_OPS_LINALG_EIGENVALUES_H_
#define SWITCHBOARD_OPS_LINALG_EIGENVALUES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of Hermitian matrices, of which the lower triangle is read, or the upper one if UPLO is "U":
// eigenvalues, real and in ascending order, and orthonormal eigenvectors in the columns of
// column-major matrices, empty without compute_v. RuntimeError for NaN and infinities.
SB_OP(_linalg_eigh,
      "aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, "
      "Tensor eigenvectors)");
SB_OP(linalg_eigh,
      "aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor "
      "eigenvectors)");
SB_OP(linalg_eigvalsh, "aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor");
SB_OP(linalg_eigvalsh_out, out_of(linalg_eigvalsh, "out"));

// Of any square matrices, complex and in no order; eigenvectors of norm 1. RuntimeError for NaN and
// infinities.
SB_OP(linalg_eig, "aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)");
SB_OP(_linalg_eigvals, "aten::_linalg_eigvals(Tensor self) -> Tensor");
SB_OP(linalg_eigvals, "aten::linalg_eigvals(Tensor self) -> Tensor");
SB_OP(linalg_eigvals_out, out_of(linalg_eigvals, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_EIGENVALUES_H_
