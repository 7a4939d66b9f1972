// Derivatives of Cholesky and QR factors, and of the matrix exponential.

#include "switchboard/ops/linalg/factorizations.h"

#include <string_view>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/linalg/derivatives/matrix_gradients.h"
#include "switchboard/ops/linalg/triangular.h"
#include "switchboard/ops/views/cat.h"

namespace sb {
namespace {

using internal::hermitian_of_lower;
using internal::lower_half;
using internal::solve_left;
using internal::solve_right;

// A = L L^H, so dL = L lower_half(L^-1 dA L^-H). Of A's two triangles each gets half.
Tensor cholesky_gradient(const Tensor& grad, bool upper, const Tensor& factor) {
  const Tensor lower_h = upper ? factor : mH(factor);
  const Tensor inner = hermitian_of_lower(matmul(lower_h, upper ? mH(grad) : grad));
  return mul_Scalar(solve_left(lower_h, solve_right(mH(lower_h), inner)), 0.5);
}

// a^H b; undefined if b is.
Tensor adjoint_product(const Tensor& a, const Tensor& b) {
  return b.defined() ? matmul(mH(a), b) : Tensor();
}
Tensor difference(const Tensor& a, const Tensor& b) {
  return !b.defined() ? a : a.defined() ? sub(a, b) : neg(b);
}

// The gradient of what holds Q and R together: W = Q^H grad_q - grad_r R^H.
Tensor coupling(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r) {
  return difference(adjoint_product(q, grad_q),
                    grad_r.defined() ? matmul(grad_r, mH(r)) : Tensor());
}

// With at least as many rows as columns, the part of dA beside the columns of Q turns Q out of
// their space; with fewer there is none, and dQ = Q Omega for an Omega that is skew-Hermitian. R
// has a real diagonal, and keeps it.
Tensor qr_gradient(const Tensor& grad_q, const Tensor& grad_r, std::string_view mode,
                   const Tensor& q, const Tensor& r) {
  SB_CHECK(mode != "r", "linalg_qr: mode: 'r' has no derivative, as it would need Q");
  const int64_t rows = q.size(-2), cols = r.size(-1);
  SB_CHECK(mode != "complete" || rows <= cols,
           "linalg_qr: mode: 'complete' has no derivative where there are more rows than columns, "
           "got ",
           rows, " and ", cols);
  const Tensor w = coupling(grad_q, grad_r, q, r);
  if (rows >= cols) {
    const Tensor along_q = matmul(q, neg(hermitian_of_lower(mH(w))));
    return solve_right(mH(r), grad_q.defined() ? add(grad_q, along_q) : along_q);
  }
  const Tensor of_square =
      solve_right(mH(narrow(r, -1, 0, rows)), matmul(q, lower_half(sub(w, mH(w)))));
  const Tensor parts[] = {of_square, zeros_like(narrow(r, -1, rows, cols - rows))};
  const Tensor through_q = cat(parts, -1);
  return grad_r.defined() ? add(through_q, matmul(q, grad_r)) : through_q;
}

// The exponential of [[A, E], [0, A]] has the change of A's exponential by E in the upper right;
// the gradient is the same of A^H.
Tensor exponential_gradient(const Tensor& grad, const Tensor& self) {
  const SymInt n = self.sym_size(-1);
  const Tensor a = mH(self);
  const Tensor above[] = {a, grad}, below[] = {zeros_like(a), a};
  const Tensor blocks[] = {cat(above, -1), cat(below, -1)};
  return narrow(narrow(linalg_matrix_exp(cat(blocks, -2)), -2, 0, n), -1, n, n);
}

// Of A and B, from that of X.
std::array<Tensor, 2> triangular_gradients(const Tensor& grad, const Tensor& a,
                                           const InputMetadata& a_meta, const InputMetadata& b_meta,
                                           bool upper, bool left, bool unitriangular,
                                           const Tensor& x, const std::array<bool, 2>& needs) {
  const Tensor of_b = linalg_solve_triangular(mH(a), grad, !upper, left, unitriangular);
  std::array<Tensor, 2> gradients;
  if (needs[0]) {
    const Tensor of_a = neg(left ? matmul(of_b, mH(x)) : matmul(mH(x), of_b));
    const int64_t skipped = unitriangular ? 1 : 0;
    gradients[0] = sum_to_size(upper ? triu(of_a, skipped) : tril(of_a, -skipped), a_meta.sizes);
  }
  if (needs[1]) gradients[1] = sum_to_size(of_b, b_meta.sizes);
  return gradients;
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(
      m, linalg_solve_triangular,
      SB_GRAD((self, B), (grad, self, self_meta, B_meta, upper, left, unitriangular, result, needs),
              triangular_gradients(grad, self, self_meta, B_meta, upper, left, unitriangular,
                                   result, needs)));
  derive(m, linalg_cholesky_ex, SB_GRAD(self, (grad, upper, L), cholesky_gradient(grad, upper, L)));
  derive(m, linalg_qr,
         SB_GRAD(A, (grad0, grad1, mode, Q, R), qr_gradient(grad0, grad1, mode, Q, R)));
  derive(m, linalg_matrix_exp, SB_GRAD(self, (grad, self), exponential_gradient(grad, self)));
}

}  // namespace sb
