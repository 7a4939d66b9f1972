// The derivatives of unary_math.h.

#include "switchboard/ops/elementwise/unary_math.h"

#include <numbers>
#include <optional>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

// 1 - x^2, and x^2 + n.
Tensor one_minus_square(const Tensor& x) { return rsub_Scalar(mul(x, x), 1); }
Tensor square_plus(const Tensor& x, int n) { return add_Scalar(mul(x, x), n); }

// 1 / sqrt(x^2 - 1); of complex numbers the product of two roots, which may differ by its sign.
Tensor acosh_slope(const Tensor& x) {
  if (!is_complex(x.dtype())) return rsqrt(square_plus(x, -1));
  return mul(rsqrt(add_Scalar(x, 1)), rsqrt(sub_Scalar(x, 1)));
}

// The derivative of sin(pi x) / (pi x), which is 0 at 0.
Tensor sinc_gradient(const Tensor& grad, const Tensor& x) {
  const Tensor angle = mul_Scalar(x, std::numbers::pi);
  const Tensor divisor = mul(angle, x);
  const Tensor slope = div(sub(mul(angle, cos(angle)), sin(angle)), divisor);
  return where_ScalarSelf(eq_Scalar(divisor, 0), 0, mul(grad, conj(slope)));
}

// The derivative of erf.
Tensor bell(const Tensor& x) {
  return mul_Scalar(exp(neg(mul(x, x))), 2 * std::numbers::inv_sqrtpi);
}

// logit_backward divides by x (1 - x), and so does this once more, with the derivative of that.
Tensor logit_double_gradient(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                             std::optional<double> eps) {
  const Tensor slope = sub_Scalar(mul_Scalar(self, 2), 1);
  return logit_backward(logit_backward(mul(mul(grad, grad_output), slope), self, eps), self, eps);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, acos, SB_GRAD(self, (grad, self), neg(mul(grad, conj(rsqrt(one_minus_square(self)))))));
  derive(m, asin, SB_GRAD(self, (grad, self), mul(grad, conj(rsqrt(one_minus_square(self))))));
  derive(m, atan, SB_GRAD(self, (grad, self), div(grad, conj(square_plus(self, 1)))));
  derive(m, tan, SB_GRAD(self, (grad, result), mul(grad, conj(square_plus(result, 1)))));
  derive(m, acosh, SB_GRAD(self, (grad, self), mul(grad, conj(acosh_slope(self)))));
  derive(m, asinh, SB_GRAD(self, (grad, self), mul(grad, conj(rsqrt(square_plus(self, 1))))));
  derive(m, atanh, SB_GRAD(self, (grad, self), div(grad, conj(one_minus_square(self)))));
  derive(m, cosh, SB_GRAD(self, (grad, self), mul(grad, conj(sinh(self)))));
  derive(m, sinh, SB_GRAD(self, (grad, self), mul(grad, conj(cosh(self)))));
  derive(m, sinc, SB_GRAD(self, (grad, self), sinc_gradient(grad, self)));

  derive(m, log2,
         SB_GRAD(self, (grad, self), div(grad, mul_Scalar(conj(self), std::numbers::ln2))));
  derive(m, log10,
         SB_GRAD(self, (grad, self), div(grad, mul_Scalar(conj(self), std::numbers::ln10))));
  derive(m, log1p, SB_GRAD(self, (grad, self), div(grad, conj(add_Scalar(self, 1)))));
  derive(m, frexp, SB_GRAD(self, (grad, exponent), div(grad, exp2(exponent))));
  derive(m, exp2,
         SB_GRAD(self, (grad, result), mul_Scalar(mul(grad, conj(result)), std::numbers::ln2)));
  derive(m, expm1, SB_GRAD(self, (grad, result), mul(grad, add_Scalar(conj(result), 1))));
  derive(m, erf, SB_GRAD(self, (grad, self), mul(grad, bell(self))));
  derive(m, erfc, SB_GRAD(self, (grad, self), neg(mul(grad, bell(self)))));
  derive(m, logit, SB_GRAD(self, (grad, self, eps), logit_backward(grad, self, eps)));
  derive(m, logit_backward,
         SB_GRAD(grad_output, (grad, self, eps), logit_backward(grad, self, eps)),
         SB_GRAD(self, (grad, grad_output, self, eps),
                 logit_double_gradient(grad, grad_output, self, eps)));
}

}  // namespace
}  // namespace sb
