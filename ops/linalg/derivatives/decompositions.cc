// Derivatives of singular values, eigenvalues and their vectors, of the pseudoinverse and of
// least squares.
//
// Where two values are equal, vectors have no derivative, and these are infinite or NaN. A complex
// vector is found up to a factor of modulus 1: what depends on that factor has no derivative.

#include <array>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/derivatives/matrix_gradients.h"
#include "switchboard/ops/linalg/eigenvalues.h"
#include "switchboard/ops/linalg/least_squares.h"
#include "switchboard/ops/linalg/pseudo_inverse.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/shape/by_size.h"

namespace sb {
namespace {

using internal::identity_like;
using internal::solve_left;

Tensor add_defined(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : b.defined() ? add(a, b) : a;
}
Tensor times_columns(const Tensor& matrices, const Tensor& values) {
  return mul(matrices, unsqueeze(values, -2));
}
Tensor times_rows(const Tensor& values, const Tensor& matrices) {
  return mul(unsqueeze(values, -1), matrices);
}
Tensor main_diagonal(const Tensor& a) { return diagonal(a, 0, -2, -1); }

// values[j] - values[i] at (i, j), and 1 where i is j.
Tensor gaps(const Tensor& values) {
  const Tensor differences = sub(unsqueeze(values, -2), unsqueeze(values, -1));
  return add(differences, identity_like(differences));
}
Tensor skew(const Tensor& a) { return sub(a, mH(a)); }

// With dA = U (dP) V^H for the changes of U = U Omega, V = V Psi inside of their spaces,
//
//   Omega = (dP S + S dP^H) / E and Psi = (S dP + dP^H S) / E off the diagonal, E = gaps(S^2),
//
// and what turns U or V out of its space changes it by that, divided by S.
Tensor svd_gradient(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh,
                    const Tensor& all_u, const Tensor& s, const Tensor& all_vh) {
  SB_CHECK(all_u.dim() >= 2 && all_vh.dim() >= 2,
           "_linalg_svd: compute_uv: expected true where a gradient is required, got false");
  const SymInt count = s.sym_size(-1);
  const auto columns = [&](const Tensor& t) { return t.defined() ? narrow(t, -1, 0, count) : t; };
  const auto rows = [&](const Tensor& t) { return t.defined() ? narrow(t, -2, 0, count) : t; };
  const Tensor u = columns(all_u), vh = rows(all_vh), of_u = columns(grad_u), of_vh = rows(grad_vh);

  // Of what U^H dA V changes.
  Tensor inner;
  Tensor turn_u;
  if (of_u.defined() || of_vh.defined()) {
    const Tensor gap = gaps(mul(s, s));
    if (of_u.defined()) {
      turn_u = skew(matmul(mH(u), of_u));
      inner = times_columns(div(turn_u, gap), s);
    }
    if (of_vh.defined()) {
      const Tensor turn_v = skew(matmul(vh, mH(of_vh)));
      inner = add_defined(inner, times_rows(s, div(turn_v, gap)));
    }
  }
  if (!inner.defined()) return matmul(times_columns(u, grad_s), vh);
  inner = sub(inner, diag_embed(main_diagonal(inner)));
  if (grad_s.defined()) inner = add(inner, diag_embed(grad_s));
  // A phase that U and V have in common is free; that of their difference is not. Without a
  // gradient of V this is 0 where the phase is free, but for a part of a gradient, which a graph
  // may derive apart from the rest. (PyTorch leaves it out.)
  if (turn_u.defined() && is_complex(u.dtype())) {
    inner = add(inner, diag_embed(div(main_diagonal(turn_u), mul_Scalar(s, 2))));
  }

  Tensor left = matmul(u, inner);
  if (of_u.defined() && !same_size(u.sym_size(-2), count)) {
    const Tensor scaled = times_columns(of_u, reciprocal(s));
    left = add(left, sub(scaled, matmul(u, matmul(mH(u), scaled))));
  }
  Tensor result = matmul(left, vh);
  if (of_vh.defined() && !same_size(vh.sym_size(-1), count)) {
    const Tensor scaled = times_rows(reciprocal(s), of_vh);
    result = add(result, matmul(u, sub(scaled, matmul(matmul(scaled, mH(vh)), vh))));
  }
  return result;
}

// V^H dA V has the changes of eigenvalues on its diagonal, and beside it those of the vectors by
// each other, times the gaps.
Tensor eigh_gradient(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors) {
  SB_CHECK(vectors.dim() >= 2,
           "_linalg_eigh: compute_v: expected true where a gradient is required, got false");
  if (!grad_vectors.defined()) {
    return matmul(times_columns(vectors, grad_values), mH(vectors));
  }
  const Tensor turn = div(matmul(mH(vectors), grad_vectors), gaps(values));
  Tensor inner = sub(turn, diag_embed(main_diagonal(turn)));
  if (grad_values.defined()) inner = add(inner, diag_embed(grad_values));
  return matmul(vectors, matmul(inner, mH(vectors)));
}

// The same with V^-1 for V^H, where V^-1 dV has what keeps the norm of each vector on its diagonal.
Tensor eig_gradient(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                    const Tensor& vectors) {
  const Tensor adjoint = mH(vectors);
  Tensor inner;
  if (grad_vectors.defined()) {
    const Tensor turn = matmul(adjoint, grad_vectors);
    const Tensor lengths = real(main_diagonal(turn));
    const Tensor kept = sub(turn, matmul(adjoint, times_columns(vectors, lengths)));
    const Tensor scaled = div(kept, gaps(conj(values)));
    inner = sub(scaled, diag_embed(main_diagonal(scaled)));
  }
  if (grad_values.defined()) inner = add_defined(inner, diag_embed(grad_values));
  return solve_left(adjoint, matmul(inner, adjoint));
}

// Where no singular value above 0 counts as 0. Of several tolerances, there are as many inverses.
//
// P = A^+: dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P.
Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& p) {
  const Tensor adjoint = mH(p), of_adjoint = mH(grad);
  const Tensor along = matmul(adjoint, matmul(grad, adjoint));
  const Tensor from_left = matmul(of_adjoint, matmul(p, adjoint));
  const Tensor from_right = matmul(matmul(adjoint, p), of_adjoint);
  const Tensor beside = add(sub(from_left, matmul(a, matmul(p, from_left))),
                            sub(from_right, matmul(matmul(from_right, p), a)));
  return sum_to_size(sub(beside, along), a.sym_sizes());
}

// X = A^+ B. What is left of B is at right angles to all that a change of X adds, so that its
// square changes by A and B alone.
std::array<Tensor, 2> lstsq_gradients(const Tensor& grad_x, const Tensor& grad_left,
                                      const Tensor& a, const Tensor& b, const Tensor& solution,
                                      const std::array<bool, 2>& needs) {
  const bool vectors = b.dim() != a.dim();
  const auto as_matrices = [&](const Tensor& t) { return vectors ? unsqueeze(t, -1) : t; };
  const Tensor right = as_matrices(b), x = as_matrices(solution);
  Tensor of_a, of_b;
  if (grad_x.defined()) {
    const Tensor inverse = linalg_pinv_atol_rtol_float(a), of_x = as_matrices(grad_x);
    if (needs[0]) of_a = pinv_gradient(matmul(of_x, mH(right)), a, inverse);
    of_b = matmul(mH(inverse), of_x);
  }
  // Empty where there are no residuals.
  if (grad_left.defined() && !same_size(grad_left.sym_size(-1), 0)) {
    const Tensor left = sub(matmul(a, x), right);
    const Tensor of_product = mul_Scalar(times_columns(left, grad_left), 2);
    if (needs[0]) of_a = add_defined(of_a, matmul(of_product, mH(x)));
    of_b = add_defined(of_b, neg(of_product));
  }
  if (of_a.defined()) of_a = sum_to_size(of_a, a.sym_sizes());
  if (of_b.defined()) of_b = sum_to_size(vectors ? squeeze_dim(of_b, -1) : of_b, b.sym_sizes());
  return {of_a, of_b};
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _linalg_svd,
         SB_GRAD(A, (grad0, grad1, grad2, U, S, Vh), svd_gradient(grad0, grad1, grad2, U, S, Vh)));
  derive(m, _linalg_eigh,
         SB_GRAD(A, (grad0, grad1, eigenvalues, eigenvectors),
                 eigh_gradient(grad0, grad1, eigenvalues, eigenvectors)));
  derive(m, linalg_eig,
         SB_GRAD(self, (grad0, grad1, eigenvalues, eigenvectors),
                 eig_gradient(grad0, grad1, eigenvalues, eigenvectors)));
  derive(m, linalg_pinv_atol_rtol_tensor,
         SB_GRAD(self, (grad, self, result), pinv_gradient(grad, self, result)));
  derive(m, linalg_lstsq,
         SB_GRAD((self, b), (grad0, grad1, self, b, solution, needs),
                 lstsq_gradients(grad0, grad1, self, b, solution, needs)));
}

}  // namespace sb
