// The derivatives of rounding.h: of steps, zeros.

#include "switchboard/ops/elementwise/rounding.h"

#include <numbers>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

// What turns z / |z| along the circle: the gradient less its part in the result's own direction.
Tensor sgn_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!is_complex(self.dtype())) return zeros_like(grad);
  const Tensor size = abs(self);
  const Tensor outward = mul(real(mul(grad, conj(result))), result);
  return where_ScalarSelf(eq_Scalar(size, 0), 0, div(sub(grad, outward), size));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  const auto derive_step = [&](const auto& op) {
    derive(m, op, SB_GRAD(self, (grad), zeros_like(grad)));
  };
  derive_step(ceil);
  derive_step(floor);
  derive_step(trunc);
  derive_step(round);
  derive_step(round_decimals);
  derive_step(sign);
  derive(m, frac, SB_GRAD(self, (grad), grad));
  derive(m, sgn, SB_GRAD(self, (grad, self, result), sgn_gradient(grad, self, result)));
  not_differentiable(m, signbit);

  derive(m, deg2rad, SB_GRAD(self, (grad), mul_Scalar(grad, std::numbers::pi / 180)));
  derive(m, rad2deg, SB_GRAD(self, (grad), mul_Scalar(grad, 180 / std::numbers::pi)));
}

}  // namespace
}  // namespace sb
