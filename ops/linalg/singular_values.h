// Singular values and vectors of the matrices in the last two dimensions.

#ifndef SWITCHBOARD_OPS_LINALG_SINGULAR_VALUES_H_
#define SWITCHBOARD_OPS_LINALG_SINGULAR_VALUES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// A = U diag(S) Vh, S real and largest first, the columns of U and the rows of Vh orthonormal. U
// and Vh are square if full_matrices, else they have as many columns and rows as there are singular
// values; without compute_uv they are empty. Both have column-major matrices. Of floating-point
// (not 16-bit) or complex tensors. `driver` is for other devices. RuntimeError for a matrix with
// NaN or an infinity.
SB_OP(_linalg_svd,
      "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
      "driver=None) -> (Tensor U, Tensor S, Tensor Vh)");
SB_OP(linalg_svd,
      "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
      "Tensor S, Tensor Vh)");
SB_OP(linalg_svdvals, "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor");
SB_OP(linalg_svdvals_out, out_of(linalg_svdvals, "out"));
// The same with V for Vh; without compute_uv, U and V are square and zero.
SB_OP(svd,
      "aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor "
      "V)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_SINGULAR_VALUES_H_
