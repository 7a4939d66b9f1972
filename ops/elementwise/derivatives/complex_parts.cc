// The derivatives of complex_parts.h.

#include "switchboard/ops/elementwise/complex_parts.h"

#include <complex>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

Tensor times_i(const Tensor& z) { return mul_Scalar(z, std::complex<double>(0, 1)); }

// The angle grows along i * z, by 1 / |z|; it has steps for real numbers.
Tensor angle_gradient(const Tensor& grad, const Tensor& self) {
  if (!is_complex(self.dtype())) return zeros_like(self);
  const Tensor size = abs(self);
  return where_ScalarSelf(eq_Scalar(size, 0), 0, times_i(div(mul(grad, self), mul(size, size))));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, angle, SB_GRAD(self, (grad, self), angle_gradient(grad, self)));
  // The parts are read by nobody here. PyTorch saves them, so writing to them is an error.
  derive(m, complex, SB_GRAD(real, (grad, real), (void(real), sb::real(grad))),
         SB_GRAD(imag, (grad, imag), (void(imag), sb::imag(grad))));
  derive(m, polar, SB_GRAD(abs, (grad, result), real(mul(conj(grad), sgn(result)))),
         SB_GRAD(angle, (grad, result), real(mul(conj(grad), times_i(result)))));
}

}  // namespace
}  // namespace sb
