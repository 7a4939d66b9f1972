// The derivatives of ternary.h.

#include "switchboard/ops/elementwise/ternary.h"

#include <complex>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

Tensor scaled_conj(const Tensor& x, const Scalar& number) { return conj(mul_Scalar(x, number)); }

// By the divisor: tensor1 / tensor2 falls by itself over tensor2.
Tensor addcdiv_divisor_gradient(const Tensor& grad, const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) {
  return neg(mul(grad, scaled_conj(div(div(tensor1, tensor2), tensor2), value)));
}

Scalar one_minus(const Scalar& number) {
  return number.is_complex() ? Scalar(1.0 - number.to<std::complex<double>>())
                             : Scalar(SymFloat(1.0) - number.to_sym_float());
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, addcmul, SB_GRAD(self, (grad), grad),
         SB_GRAD(tensor1, (grad, tensor2, value), mul(grad, scaled_conj(tensor2, value))),
         SB_GRAD(tensor2, (grad, tensor1, value), mul(grad, scaled_conj(tensor1, value))));
  derive(
      m, addcdiv, SB_GRAD(self, (grad), grad),
      SB_GRAD(tensor1, (grad, tensor2, value), div(internal::scaled(grad, value), conj(tensor2))),
      SB_GRAD(tensor2, (grad, tensor1, tensor2, value),
              addcdiv_divisor_gradient(grad, tensor1, tensor2, value)));

  derive(m, lerp_Scalar,
         SB_GRAD(self, (grad, weight), mul_Scalar(grad, one_minus(internal::conjugate(weight)))),
         SB_GRAD(end, (grad, weight), internal::scaled(grad, weight)));
  derive(m, lerp_Tensor, SB_GRAD(self, (grad, weight), mul(grad, conj(rsub_Scalar(weight, 1)))),
         SB_GRAD(end, (grad, weight), mul(grad, conj(weight))),
         SB_GRAD(weight, (grad, self, end), mul(grad, conj(sub(end, self)))));
}

}  // namespace
}  // namespace sb
