// The derivatives of special_functions.h. As in PyTorch, results of Bessel functions other than the
// scaled and unscaled i0 and i1 require none, and there is none by the order of igamma and zeta.

#include "switchboard/ops/elementwise/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/polynomials.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"

namespace sb {
namespace {

// In the place of a formula that nobody knows.
Tensor unknown_gradient(std::string_view op, std::string_view argument) {
  SB_THROW(NotImplementedError, op, ": argument ", argument,
           ": it requires a gradient, and the derivative by it is not implemented");
}

// x^(a - 1) * exp(-x) / gamma(a).
Tensor gamma_density(const Tensor& a, const Tensor& x) {
  return exp(sub(sub(mul(sub_Scalar(a, 1), log(x)), x), lgamma(a)));
}

// d/dq zeta(x, q) = -x * zeta(x + 1, q).
Tensor zeta_gradient(const Tensor& grad, const Tensor& self, const Tensor& other) {
  return mul(grad, neg(mul(self, special_zeta(add_Scalar(self, 1), other))));
}
Tensor zeta_gradient(const Tensor& grad, const Scalar& self, const Tensor& other) {
  const double x = self.to<double>();
  return mul(grad, mul_Scalar(special_zeta_self_scalar(x + 1, other), -x));
}

// exp(-x^2 / 2) * scale.
Tensor bell(const Tensor& x, double scale) {
  return mul_Scalar(exp(mul_Scalar(mul(x, x), -0.5)), scale);
}

const double kSqrtPi = std::sqrt(std::numbers::pi);
const double kSqrtTwoPi = std::sqrt(2 * std::numbers::pi);

// The slopes of i1 and i1e have x below a fraction line: near 0 they are 1/2.
template <class F>
Tensor bessel_gradient(const Tensor& grad, const Tensor& x, const F& slope_at) {
  const double tiny = x.dtype() == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                                  : std::numeric_limits<float>::epsilon();
  const Tensor near_zero = le_Scalar(abs(x), tiny);
  const Tensor slope = slope_at(where_ScalarSelf(near_zero, tiny, x));
  return mul(grad, where_ScalarSelf(near_zero, 0.5, slope));
}
Tensor i1_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return bessel_gradient(grad, self, [&](const Tensor& x) { return sub(i0(x), div(result, x)); });
}
Tensor i1e_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return bessel_gradient(grad, self, [&](const Tensor& x) {
    return sub(special_i0e(x), mul(result, add(sign(x), reciprocal(x))));
  });
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, lgamma, SB_GRAD(self, (grad, self), mul(grad, digamma(self))));
  derive(m, digamma, SB_GRAD(self, (grad, self), mul(grad, polygamma(1, self))));
  derive(m, polygamma, SB_GRAD(self, (grad, n, self), mul(grad, polygamma(n + 1, self))));
  derive(m, polygamma_, SB_GRAD(self, (grad, n, self), mul(grad, polygamma(n + 1, self))));
  derive(m, igamma, SB_GRAD(self, (grad), unknown_gradient("igamma", "self")),
         SB_GRAD(other, (grad, self, other), mul(grad, gamma_density(self, other))));
  derive(m, igammac, SB_GRAD(self, (grad), unknown_gradient("igammac", "self")),
         SB_GRAD(other, (grad, self, other), neg(mul(grad, gamma_density(self, other)))));
  derive(m, special_zeta, SB_GRAD(self, (grad), unknown_gradient("special_zeta", "self")),
         SB_GRAD(other, (grad, self, other), zeta_gradient(grad, self, other)));
  derive(m, special_zeta_other_scalar,
         SB_GRAD(self, (grad), unknown_gradient("special_zeta", "self")));
  derive(m, special_zeta_self_scalar,
         SB_GRAD(other, (grad, self, other), zeta_gradient(grad, self, other)));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(
      m, erfinv,
      SB_GRAD(self, (grad, self), mul(grad, mul_Scalar(exp(square(erfinv(self))), kSqrtPi / 2))));
  derive(m, special_erfcx,
         SB_GRAD(self, (grad, self, result),
                 mul(grad, sub_Scalar(mul_Scalar(mul(self, result), 2), 2 / kSqrtPi))));
  derive(m, special_ndtr, SB_GRAD(self, (grad, self), mul(grad, bell(self, 1 / kSqrtTwoPi))));
  derive(m, special_ndtri, SB_GRAD(self, (grad, result), div(grad, bell(result, 1 / kSqrtTwoPi))));
  // The density over the distribution, both times exp(x^2 / 2).
  derive(m, special_log_ndtr,
         SB_GRAD(self, (grad, self, result),
                 (void(result),  // as PyTorch saves it
                  div(mul_Scalar(grad, 2 / kSqrtTwoPi),
                      special_erfcx(mul_Scalar(self, -1 / std::numbers::sqrt2))))));
  derive(m, special_entr, SB_GRAD(self, (grad, self), neg(mul(grad, add_Scalar(log(self), 1)))));

  derive(m, i0, SB_GRAD(self, (grad, self), mul(grad, special_i1(self))));
  derive(m, special_i0e,
         SB_GRAD(self, (grad, self, result),
                 mul(grad, sub(special_i1e(self), mul(sign(self), result)))));
  derive(m, special_i1, SB_GRAD(self, (grad, self, result), i1_gradient(grad, self, result)));
  derive(m, special_i1e, SB_GRAD(self, (grad, self, result), i1e_gradient(grad, self, result)));
  not_differentiable(m, special_spherical_bessel_j0);
  not_differentiable(m, special_bessel_j0);
  not_differentiable(m, special_bessel_j1);
  not_differentiable(m, special_bessel_y0);
  not_differentiable(m, special_bessel_y1);
  not_differentiable(m, special_modified_bessel_i0);
  not_differentiable(m, special_modified_bessel_i1);
  not_differentiable(m, special_modified_bessel_k0);
  not_differentiable(m, special_modified_bessel_k1);
  not_differentiable(m, special_scaled_modified_bessel_k0);
  not_differentiable(m, special_scaled_modified_bessel_k1);
  not_differentiable(m, special_airy_ai);
}

// Each with its number forms: what is composed of a constant is one.
SB_LIBRARY_IMPL(aten, Autograd, m) {
  const auto constant = [&](const auto& op, const auto& of_number, const auto& of_degree,
                            SourceLocation where = SourceLocation::current()) {
    not_differentiable(m, op, where);
    not_differentiable(m, of_number, where);
    not_differentiable(m, of_degree, where);
  };
  constant(special_chebyshev_polynomial_t, special_chebyshev_polynomial_t_x_scalar,
           special_chebyshev_polynomial_t_n_scalar);
  constant(special_chebyshev_polynomial_u, special_chebyshev_polynomial_u_x_scalar,
           special_chebyshev_polynomial_u_n_scalar);
  constant(special_chebyshev_polynomial_v, special_chebyshev_polynomial_v_x_scalar,
           special_chebyshev_polynomial_v_n_scalar);
  constant(special_chebyshev_polynomial_w, special_chebyshev_polynomial_w_x_scalar,
           special_chebyshev_polynomial_w_n_scalar);
  constant(special_shifted_chebyshev_polynomial_t, special_shifted_chebyshev_polynomial_t_x_scalar,
           special_shifted_chebyshev_polynomial_t_n_scalar);
  constant(special_shifted_chebyshev_polynomial_u, special_shifted_chebyshev_polynomial_u_x_scalar,
           special_shifted_chebyshev_polynomial_u_n_scalar);
  constant(special_shifted_chebyshev_polynomial_v, special_shifted_chebyshev_polynomial_v_x_scalar,
           special_shifted_chebyshev_polynomial_v_n_scalar);
  constant(special_shifted_chebyshev_polynomial_w, special_shifted_chebyshev_polynomial_w_x_scalar,
           special_shifted_chebyshev_polynomial_w_n_scalar);
  constant(special_hermite_polynomial_h, special_hermite_polynomial_h_x_scalar,
           special_hermite_polynomial_h_n_scalar);
  constant(special_hermite_polynomial_he, special_hermite_polynomial_he_x_scalar,
           special_hermite_polynomial_he_n_scalar);
  constant(special_laguerre_polynomial_l, special_laguerre_polynomial_l_x_scalar,
           special_laguerre_polynomial_l_n_scalar);
  constant(special_legendre_polynomial_p, special_legendre_polynomial_p_x_scalar,
           special_legendre_polynomial_p_n_scalar);
}

}  // namespace
}  // namespace sb
