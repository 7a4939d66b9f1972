// The Moore-Penrose inverse, and the rank: what singular values say of a matrix.

#ifndef SWITCHBOARD_OPS_LINALG_PSEUDO_INVERSE_H_
#define SWITCHBOARD_OPS_LINALG_PSEUDO_INVERSE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Singular values up to the greater one of atol and rtol times the largest of them count as 0. atol
// is 0 by default, and rtol, unless there is an atol above 0, epsilon times the larger size; rcond
// is an rtol. With hermitian, the lower triangle is taken for a Hermitian matrix, and magnitudes of
// eigenvalues for singular values. Tolerances that are tensors are broadcast against the batch.
SB_OP(linalg_pinv_atol_rtol_tensor,
      "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
      "bool hermitian=False) -> Tensor");
SB_OP(linalg_pinv_atol_rtol_float,
      "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
      "hermitian=False) -> Tensor");
SB_OP(linalg_pinv, "aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor");
SB_OP(linalg_pinv_rcond_tensor,
      "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor");
SB_OP(pinverse, "aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor");

// How many singular values do not count as 0, by the same tolerances; tol is an atol. int64.
SB_OP(linalg_matrix_rank_atol_rtol_tensor,
      "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? "
      "rtol=None, bool hermitian=False) -> Tensor");
SB_OP(linalg_matrix_rank_atol_rtol_float,
      "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? "
      "rtol=None, bool hermitian=False) -> Tensor");
SB_OP(linalg_matrix_rank,
      "aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor");
SB_OP(linalg_matrix_rank_tol_tensor,
      "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> "
      "Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_PSEUDO_INVERSE_H_
