// Derivatives of LU factors, and of what is computed by them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/linalg/derivatives/matrix_gradients.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/sorting/sort.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/scatter_views.h"

namespace sb {
namespace {

using internal::conjugate;
using internal::identity_like;
using internal::solve_left;
using internal::solve_right;

// matrices[i] * scalars[i].
Tensor times_each(const Tensor& scalars, const Tensor& matrices) {
  return mul(unsqueeze(unsqueeze(scalars, -1), -1), matrices);
}

// P times each matrix: its rows, back where they were before the swaps that the pivots say.
Tensor unpermuted(const Tensor& matrices, const Tensor& pivots) {
  const SymInt rows = matrices.sym_size(-2);
  SymDimVector sizes(pivots.sym_sizes().begin(), pivots.sym_sizes().end());
  sizes.back() = rows;
  // Which row came to each place.
  Tensor order = expand(arange(rows.guard_int(), DType::Int64, std::nullopt, pivots.device()),
                        SymIntArrayRef(sizes));
  for (int64_t k = 0; k < pivots.size(-1); ++k) {
    const Tensor other = sub_Scalar(to_dtype(narrow(pivots, -1, k, 1), DType::Int64), 1);
    const Tensor here = narrow(order, -1, k, 1), there = gather(order, -1, other);
    order = scatter(slice_scatter(order, there, -1, k, k + 1), -1, other, here);
  }
  const Tensor place = unsqueeze(argsort(order), -1);
  return gather(matrices, -2, expand_as(place, matrices));
}

// P^T A = L U. Of the square parts, which have a 1 here,
//
//   M = L1^-1 (P^T dA)1 U1^-1, dL1 = L1 tril(M, -1), dU1 = triu(M) U1.
//
// The rest of L or U, where A is no square, follows from (P^T A)2 = L2 U1 or L1 U2.
Tensor lu_gradient(const Tensor& grad, const Tensor& lu, const Tensor& pivots, bool pivot) {
  const int64_t rows = lu.size(-2), cols = lu.size(-1), n = std::min(rows, cols);
  const auto upper_rows = [&](const Tensor& t) { return narrow(t, -2, 0, n); };
  const auto left_cols = [&](const Tensor& t) { return narrow(t, -1, 0, n); };
  const auto lower_rest = [&](const Tensor& t) { return narrow(t, -2, n, rows - n); };
  const auto right_rest = [&](const Tensor& t) { return narrow(t, -1, n, cols - n); };

  const Tensor square = left_cols(upper_rows(lu)), grad_square = left_cols(upper_rows(grad));
  const Tensor lower_h = mH(add(tril(square, -1), identity_like(square)));
  const Tensor upper_h = mH(triu(square));
  Tensor of_lower = matmul(lower_h, grad_square), of_upper = matmul(grad_square, upper_h);
  if (cols > n) of_lower = sub(of_lower, matmul(right_rest(grad), mH(right_rest(lu))));
  if (rows > n) of_upper = sub(of_upper, matmul(mH(lower_rest(lu)), lower_rest(grad)));

  Tensor result =
      solve_left(lower_h, solve_right(upper_h, add(tril(of_lower, -1), triu(of_upper))));
  if (cols > n) {
    const Tensor parts[] = {result, solve_left(lower_h, right_rest(grad))};
    result = cat(parts, -1);
  }
  if (rows > n) {
    const Tensor parts[] = {result, solve_right(upper_h, lower_rest(grad))};
    result = cat(parts, -2);
  }
  return pivot ? unpermuted(result, pivots) : result;
}

// What makes singular matrices regular when it is added to them, zeros for the others. Half of the
// digits: first and second derivatives of what is smooth there are then good to the other half.
Tensor step_from_singular(const Tensor& a, const Tensor& det) {
  const NoGradGuard as_a_constant;
  const bool single = a.dtype() == DType::Float32 || a.dtype() == DType::Complex64;
  const double epsilon =
      single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const Tensor largest = amax(abs(a), {-2, -1});
  const Tensor scale = masked_fill(largest, eq_Scalar(largest, 0), 1);
  const Tensor step = masked_fill(mul_Scalar(scale, std::sqrt(epsilon)), ne_Scalar(det, 0), 0);
  return times_each(step, identity_like(a));
}

// grad * conj(det) A^-H: the cofactors, which exist for singular matrices, too. The determinant is
// computed again, by the factors that solving finds: then errors of both cancel.
Tensor det_gradient(const Tensor& grad, const Tensor& a, const Tensor& result) {
  if (same_size(a.sym_size(-1), 0)) return zeros_like(a);
  const Tensor moved = add(a, step_from_singular(a, result));
  const Tensor scale = mul(conjugate(grad), det(moved));
  return mH(solve_left(moved, times_each(scale, identity_like(moved))));
}

// d log det = tr(A^-1 dA), whose real part is that of logabsdet; the imaginary one is the change of
// the sign's angle.
Tensor slogdet_gradient(const Tensor& grad_of_sign, const Tensor& grad_of_log, const Tensor& a,
                        const Tensor& sign) {
  Tensor scale = grad_of_log;
  if (grad_of_sign.defined() && is_complex(a.dtype())) {
    const Tensor turned = mul(conj(sign), grad_of_sign);
    const Tensor imaginary = mul_Scalar(sub(turned, conj(turned)), 0.5);
    scale = scale.defined() ? add(scale, imaginary) : imaginary;
  }
  if (!scale.defined()) return scale;  // a sign of real numbers, which is 1 or -1
  return mH(solve_left(a, times_each(conjugate(scale), identity_like(a))));
}

Tensor inverse_gradient(const Tensor& grad, const Tensor& inverse) {
  const Tensor adjoint = mH(inverse);
  return neg(matmul(adjoint, matmul(grad, adjoint)));
}

// A X = B: the gradient of B is A^-H grad, that of A then less its product with X^H.
std::tuple<Tensor, Tensor> solve_gradients(const Tensor& grad, const Tensor& a,
                                           const InputMetadata& b, bool left, const Tensor& x,
                                           const std::array<bool, 2>& needs) {
  // B may have vectors for matrices of one column, as _linalg_solve_ex has it.
  const SymIntArrayRef sizes = a.sym_sizes();
  const bool vectors = b.dim() == 1 || (b.dim() == a.dim() - 1 &&
                                        std::equal(b.sizes.begin(), b.sizes.end(), sizes.begin()));
  const auto as_matrices = [&](const Tensor& t) { return vectors ? unsqueeze(t, -1) : t; };
  const Tensor of_b = left ? solve_left(mH(a), as_matrices(grad)) : solve_right(mH(a), grad);
  Tensor of_a;
  if (needs[0]) {
    const Tensor x_h = mH(as_matrices(x));
    of_a = neg(left ? matmul(of_b, x_h) : matmul(x_h, of_b));
  }
  return {of_a, vectors ? squeeze_dim(of_b, -1) : of_b};
}

}  // namespace

// The factors that determinants and solutions come with have no derivative: those of
// linalg_lu_factor have.
SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, linalg_lu_factor_ex,
         SB_GRAD(A, (grad, LU, pivots, pivot), lu_gradient(grad, LU, pivots, pivot)));
  derive(m, _linalg_det, SB_GRAD(A, (grad, A, result), det_gradient(grad, A, result)));
  derive(m, _linalg_slogdet,
         SB_GRAD(A, (grad0, grad1, A, sign), slogdet_gradient(grad0, grad1, A, sign)));
  derive(m, linalg_inv_ex, SB_GRAD(A, (grad, inverse), inverse_gradient(grad, inverse)));
  derive(m, _linalg_solve_ex,
         SB_GRAD((A, B), (grad, A, B_meta, left, result, needs),
                 solve_gradients(grad, A, B_meta, left, result, needs)));
}

}  // namespace sb
