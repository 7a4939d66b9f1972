// What derivatives of factorizations have in common. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_DERIVATIVES_MATRIX_GRADIENTS_H_
#define SWITCHBOARD_OPS_LINALG_DERIVATIVES_MATRIX_GRADIENTS_H_

#include <tuple>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/linalg/solve.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

namespace sb::internal {

// X with A X = B, and with X A = B. Where A is singular it is infinite or NaN, and no error.
inline Tensor solve_left(const Tensor& a, const Tensor& b) {
  return std::get<0>(_linalg_solve_ex(a, b, /*left=*/true, /*check_errors=*/false));
}
inline Tensor solve_right(const Tensor& a, const Tensor& b) {
  return std::get<0>(_linalg_solve_ex(a, b, /*left=*/false, /*check_errors=*/false));
}

// One square matrix, for all of a batch.
inline Tensor identity_like(const Tensor& matrices) {
  return eye(matrices.sym_size(-1), matrices.dtype(), std::nullopt, matrices.device(),
             std::nullopt);
}

// The lower triangle, the diagonal halved.
inline Tensor lower_half(const Tensor& a) {
  return sub(tril(a), mul_Scalar(diag_embed(diagonal(a, 0, -2, -1)), 0.5));
}
// The Hermitian matrix that has the lower triangle of `a`, but for imaginary parts on the diagonal.
inline Tensor hermitian_of_lower(const Tensor& a) {
  const Tensor half = lower_half(a);
  return add(half, mH(half));
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_LINALG_DERIVATIVES_MATRIX_GRADIENTS_H_
