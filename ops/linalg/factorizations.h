// Factorizations of the matrices in the last two dimensions, in float32, float64 and their complex
// types, by Eigen; and what is computed from them. Factors have column-major matrices.

#ifndef SWITCHBOARD_OPS_LINALG_FACTORIZATIONS_H_
#define SWITCHBOARD_OPS_LINALG_FACTORIZATIONS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// RuntimeError where an info is not 0: a factorization failed. Passes meta tensors.
SB_OP(_linalg_check_errors,
      "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()");

// A = P L U, L and U in one matrix. Row i was swapped with row pivots[i], counted from 1. info is
// 0, or the first i, counted from 1, where U[i, i] is 0: RuntimeError if check_errors.
SB_OP(linalg_lu_factor_ex,
      "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor "
      "LU, Tensor pivots, Tensor info)");
SB_OP(linalg_lu_factor,
      "aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)");

// Determinants; slogdet gives the sign (a complex number of modulus 1) and the logarithm of the
// modulus.
SB_OP(_linalg_det, "aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)");
SB_OP(linalg_det, "aten::linalg_det(Tensor A) -> Tensor");
SB_OP(linalg_det_out, out_of(linalg_det, "out"));
SB_OP(det, "aten::det(Tensor self) -> Tensor");
SB_OP(
    _linalg_slogdet,
    "aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)");
SB_OP(linalg_slogdet, "aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)");
SB_OP(slogdet, "aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)");

// The inverse; RuntimeError for a singular matrix, which linalg_inv_ex reports in info instead.
SB_OP(linalg_inv_ex,
      "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)");
SB_OP(linalg_inv, "aten::linalg_inv(Tensor A) -> Tensor");
SB_OP(linalg_inv_out, out_of(linalg_inv, "out"));
SB_OP(inverse, "aten::inverse(Tensor self) -> Tensor");
SB_OP(inverse_out, out_of(inverse, "out"));

// A = L L^H, or U^H U: the factor, the other triangle 0. RuntimeError where A is not positive
// definite, which linalg_cholesky_ex reports in info instead.
SB_OP(linalg_cholesky_ex,
      "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
      "(Tensor L, Tensor info)");
SB_OP(linalg_cholesky, "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor");
SB_OP(linalg_cholesky_out, out_of(linalg_cholesky, "out"));
SB_OP(cholesky, "aten::cholesky(Tensor self, bool upper=False) -> Tensor");
SB_OP(cholesky_out, out_of(cholesky, "out"));

// A = Q R. mode is "reduced", "complete" (Q is square) or "r" (Q is empty).
SB_OP(linalg_qr, "aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)");
SB_OP(qr, "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)");

// The exponential series of square matrices. NaN where one has NaN or an infinity.
SB_OP(linalg_matrix_exp, "aten::linalg_matrix_exp(Tensor self) -> Tensor");
SB_OP(matrix_exp, "aten::matrix_exp(Tensor self) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_FACTORIZATIONS_H_
