// What formulas of arithmetic and of products have in common: factors that are 1, and conjugates of
// real numbers, more often than not, and then cost no call.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_DERIVATIVES_SCALED_GRADIENTS_H_
#define SWITCHBOARD_OPS_ARITHMETIC_DERIVATIVES_SCALED_GRADIENTS_H_

#include <complex>

#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb::internal {

// The gradients of complex numbers are those by the conjugate: every factor is conjugated.
inline Tensor conjugate(const Tensor& t) { return is_complex(t.dtype()) ? conj(t) : t; }
inline Scalar conjugate(const Scalar& s) {
  return s.is_complex() ? Scalar(std::conj(s.to<std::complex<double>>())) : s;
}

// The gradient of x in x * factor.
inline Tensor scaled(const Tensor& grad, const Scalar& factor) {
  const bool is_one = !factor.is_complex() && !factor.is_symbolic() && factor.to<double>() == 1;
  return is_one ? grad : mul_Scalar(grad, conjugate(factor));
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_ARITHMETIC_DERIVATIVES_SCALED_GRADIENTS_H_
