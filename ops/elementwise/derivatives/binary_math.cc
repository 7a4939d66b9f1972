// The derivatives of binary_math.h. nextafter, heaviside and floor_divide have none in PyTorch:
// backward through the first two is an error, and the third's are those of div.

#include "switchboard/ops/elementwise/binary_math.h"

#include <array>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

using Pair = std::array<Tensor, 2>;

// The angle grows across (self, other), by 1 / their length. As in PyTorch, where self is of uint8
// its negative wraps.
Pair atan2_gradients(const Tensor& grad, const Tensor& self, const Tensor& other,
                     const std::array<bool, 2>& needs) {
  const Tensor part = div(grad, add(mul(self, self), mul(other, other)));
  return {needs[0] ? mul(part, other) : Tensor(), needs[1] ? mul(part, neg(self)) : Tensor()};
}

// 1 where the sign was kept, -1 where it was turned, 0 at 0.
Tensor copysign_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return mul(grad, mul(sign(self), sign(result)));
}

// What f(grad, other) = grad * log(...) is at self 0, where `other` is not above the pole: 0.
template <class F>
Tensor log_gradient(const F& f, const Tensor& grad, const Tensor& self, const Tensor& other,
                    double pole) {
  const Tensor zero = logical_and(eq_Scalar(self, 0), le_Scalar(other, pole));
  return where_ScalarSelf(zero, 0, f(grad, other));
}
template <class F>
Tensor log_gradient(const F& f, const Tensor& grad, const Tensor& self, const Scalar& other,
                    double pole) {
  const Tensor all = f(grad, other);
  return other.to<double>() > pole ? all : where_ScalarSelf(eq_Scalar(self, 0), 0, all);
}

// What exp(self) is a part of: (exp(self) + exp(other)) / exp(self). The same of powers of 2.
Tensor sum_over_exp(const Tensor& self, const Tensor& other) {
  return add_Scalar(exp(sub(other, self)), 1);
}
Tensor sum_over_exp2(const Tensor& self, const Tensor& other) {
  return add_Scalar(exp2(sub(other, self)), 1);
}

// The gradient of a remainder falls with the quotient.
Tensor divisor_gradient(const Tensor& grad, const Tensor& self, const Tensor& other,
                        std::string_view rounding) {
  return neg(mul(grad, div_Tensor_mode(self, other, rounding)));
}

// Where fmax and fmin take self: the equal ones too.
template <auto& compare>
Tensor taken(const Tensor& self, const Tensor& other) {
  return logical_or(compare(self, other), isnan(other));
}
template <auto& compare>
Pair choice_gradients(const Tensor& grad, const Tensor& self, const Tensor& other,
                      const std::array<bool, 2>& needs) {
  const Tensor first = taken<compare>(self, other);
  return {needs[0] ? where_ScalarOther(first, grad, 0) : Tensor(),
          needs[1] ? where_ScalarSelf(first, 0, grad) : Tensor()};
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, atan2,
         SB_GRAD((self, other), (grad, self, other, needs),
                 atan2_gradients(grad, self, other, needs)));
  derive(m, copysign, SB_GRAD(self, (grad, self, result), copysign_gradient(grad, self, result)),
         SB_GRAD(other, (grad), zeros_like(grad)));
  derive(m, copysign_Scalar,
         SB_GRAD(self, (grad, self, result), copysign_gradient(grad, self, result)));
  derive(m, hypot, SB_GRAD(self, (grad, self, result), mul(grad, div(self, result))),
         SB_GRAD(other, (grad, other, result), mul(grad, div(other, result))));

  derive(m, xlogy, SB_GRAD(self, (grad, self, other), log_gradient(xlogy, grad, self, other, 0)),
         SB_GRAD(other, (grad, self, other), div(mul(grad, self), other)));
  derive(
      m, xlogy_Scalar_Other,
      SB_GRAD(self, (grad, self, other), log_gradient(xlogy_Scalar_Other, grad, self, other, 0)));
  derive(m, xlogy_Scalar_Self,
         SB_GRAD(other, (grad, self, other), div(mul_Scalar(grad, self), other)));
  derive(m, special_xlog1py,
         SB_GRAD(self, (grad, self, other), log_gradient(special_xlog1py, grad, self, other, -1)),
         SB_GRAD(other, (grad, self, other), div(mul(grad, self), add_Scalar(other, 1))));
  derive(m, special_xlog1py_other_scalar,
         SB_GRAD(self, (grad, self, other),
                 log_gradient(special_xlog1py_other_scalar, grad, self, other, -1)));
  derive(m, special_xlog1py_self_scalar,
         SB_GRAD(other, (grad, self, other), div(mul_Scalar(grad, self), add_Scalar(other, 1))));

  derive(m, logaddexp, SB_GRAD(self, (grad, self, other), div(grad, sum_over_exp(self, other))),
         SB_GRAD(other, (grad, self, other), div(grad, sum_over_exp(other, self))));
  derive(m, logaddexp2, SB_GRAD(self, (grad, self, other), div(grad, sum_over_exp2(self, other))),
         SB_GRAD(other, (grad, self, other), div(grad, sum_over_exp2(other, self))));

  derive(m, fmod, SB_GRAD(self, (grad), grad),
         SB_GRAD(other, (grad, self, other), divisor_gradient(grad, self, other, "trunc")));
  derive(m, fmod_Scalar, SB_GRAD(self, (grad), grad));
  derive(m, remainder, SB_GRAD(self, (grad), grad),
         SB_GRAD(other, (grad, self, other), divisor_gradient(grad, self, other, "floor")));
  derive(m, remainder_Scalar, SB_GRAD(self, (grad), grad));

  derive(m, fmax,
         SB_GRAD((self, other), (grad, self, other, needs),
                 choice_gradients<ge>(grad, self, other, needs)));
  derive(m, fmin,
         SB_GRAD((self, other), (grad, self, other, needs),
                 choice_gradients<le>(grad, self, other, needs)));
}

}  // namespace
}  // namespace sb
