// Derivatives of functions of one tensor.

#include "switchboard/ops/arithmetic/unary.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/elementwise/activation_gradients.h"

namespace sb {
namespace {

using internal::conjugate;

Tensor cube(const Tensor& t) { return mul(mul(t, t), t); }

// By the result where it says the derivative: it is there anyway.
SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, relu, SB_GRAD(self, (grad, result), threshold_backward(grad, result, 0)));
  derive(m, exp, SB_GRAD(self, (grad, result), mul(grad, conjugate(result))));
  derive(m, log, SB_GRAD(self, (grad, self), div(grad, conjugate(self))));
  derive(m, sqrt, SB_GRAD(self, (grad, result), div(grad, mul_Scalar(conjugate(result), 2))));
  derive(m, rsqrt,
         SB_GRAD(self, (grad, result), mul_Scalar(mul(grad, conjugate(cube(result))), -0.5)));
  derive(m, sin, SB_GRAD(self, (grad, self), mul(grad, conjugate(cos(self)))));
  derive(m, cos, SB_GRAD(self, (grad, self), neg(mul(grad, conjugate(sin(self))))));
  derive(m, tanh, SB_GRAD(self, (grad, result), tanh_backward(grad, result)));
  derive(m, sigmoid, SB_GRAD(self, (grad, result), sigmoid_backward(grad, result)));
  derive(m, reciprocal,
         SB_GRAD(self, (grad, result), neg(mul(grad, conjugate(mul(result, result))))));
}

}  // namespace
}  // namespace sb
