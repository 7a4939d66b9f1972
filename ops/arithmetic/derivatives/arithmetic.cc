// Derivatives of sums, differences, products, quotients and absolute values.

#include "switchboard/ops/arithmetic/arithmetic.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using internal::conjugate;
using internal::scaled;

// Of x / y in y.
Tensor divisor_gradient(const Tensor& grad, const Tensor& self, const Tensor& other) {
  return neg(mul(grad, conjugate(div(div(self, other), other))));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, add, SB_GRAD(self, (grad), grad), SB_GRAD(other, (grad, alpha), scaled(grad, alpha)));
  derive(m, add_Scalar, SB_GRAD(self, (grad), grad));
  derive(m, sub, SB_GRAD(self, (grad), grad),
         SB_GRAD(other, (grad, alpha), scaled(neg(grad), alpha)));
  derive(m, sub_Scalar, SB_GRAD(self, (grad), grad));
  derive(m, rsub, SB_GRAD(self, (grad, alpha), scaled(neg(grad), alpha)),
         SB_GRAD(other, (grad), grad));
  derive(m, rsub_Scalar, SB_GRAD(self, (grad, alpha), scaled(neg(grad), alpha)));

  derive(m, mul, SB_GRAD(self, (grad, other), mul(grad, conjugate(other))),
         SB_GRAD(other, (grad, self), mul(grad, conjugate(self))));
  derive(m, mul_Scalar, SB_GRAD(self, (grad, other), mul_Scalar(grad, conjugate(other))));

  derive(m, div, SB_GRAD(self, (grad, other), div(grad, conjugate(other))),
         SB_GRAD(other, (grad, self, other), divisor_gradient(grad, self, other)));
  derive(m, div_Scalar, SB_GRAD(self, (grad, other), div_Scalar(grad, conjugate(other))));
  // What is rounded is constant nearly everywhere.
  derive(m, div_Tensor_mode,
         SB_GRAD(self, (grad, other, rounding_mode),
                 rounding_mode ? zeros_like(grad) : div(grad, conjugate(other))),
         SB_GRAD(other, (grad, self, other, rounding_mode),
                 rounding_mode ? zeros_like(grad) : divisor_gradient(grad, self, other)));
  derive(m, div_Scalar_mode,
         SB_GRAD(self, (grad, other, rounding_mode),
                 rounding_mode ? zeros_like(grad) : div_Scalar(grad, conjugate(other))));

  derive(m, neg, SB_GRAD(self, (grad), neg(grad)));
  derive(m, abs, SB_GRAD(self, (grad, self), mul(grad, sgn(self))));
}

}  // namespace
}  // namespace sb
