// The derivatives of pow.h. square, ldexp and float_power are made of these.

#include "switchboard/ops/elementwise/pow.h"

#include <complex>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"

namespace sb {
namespace {

Scalar one_less(const Scalar& number) {
  if (number.is_complex()) return number.to<std::complex<double>>() - 1.0;
  if (number.is_floating_point()) return number.to_sym_float() - 1.0;
  return number.is_symbolic() ? Scalar(number.to_sym_int() - 1) : Scalar(number.to<int64_t>() - 1);
}
bool is_zero(const Scalar& number) {
  return !number.is_symbolic() && number.to<std::complex<double>>() == 0.0;
}

// d/dx x^e = e * x^(e - 1), but 0 for e = 0, where x may be 0 too.
Tensor base_gradient(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (is_zero(exponent)) return zeros_like(self);
  const Scalar less = one_less(exponent);
  // The squares' gradients need no power.
  const Tensor power = !less.is_symbolic() && less.to<std::complex<double>>() == 1.0
                           ? self
                           : pow_Tensor_Scalar(self, less);
  return mul(grad, conj(mul_Scalar(power, exponent)));
}
Tensor base_gradient(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = mul(exponent, pow(self, sub_Scalar(exponent, 1)));
  return where_ScalarSelf(eq_Scalar(exponent, 0), 0, mul(grad, conj(slope)));
}

// Where powers of 0 are 0 or 1 whatever the exponent nearby.
Tensor is_flat(const Tensor& exponent) {
  if (!is_complex(exponent.dtype())) return ge_Scalar(exponent, 0);
  return logical_and(eq_Scalar(imag(exponent), 0), ge_Scalar(real(exponent), 0));
}

// d/de x^e = x^e * log(x), but 0 at x = 0.
Tensor exponent_gradient(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                         const Tensor& result) {
  // The logarithm of a negative number, where the result is complex, is complex too.
  const Tensor base = is_complex(result.dtype()) && !is_complex(self.dtype())
                          ? to_dtype(self, result.dtype())
                          : self;
  const Tensor zero = logical_and(eq_Scalar(self, 0), is_flat(exponent));
  return where_ScalarSelf(zero, 0, mul(grad, conj(mul(result, log(base)))));
}
Tensor exponent_gradient(const Tensor& grad, const Scalar& self, const Tensor& exponent,
                         const Tensor& result) {
  const bool complex_log = self.is_complex() || is_complex(result.dtype());
  const Scalar log_self = complex_log ? Scalar(std::log(self.to<std::complex<double>>()))
                                      : Scalar(std::log(self.to<double>()));
  const Tensor slope = mul(grad, conj(mul_Scalar(result, log_self)));
  return is_zero(self) ? where_ScalarSelf(is_flat(exponent), 0, slope) : slope;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  const auto derive_power = [&](const auto& op) {
    derive(m, op, SB_GRAD(self, (grad, self, exponent), base_gradient(grad, self, exponent)),
           SB_GRAD(exponent, (grad, self, exponent, result),
                   exponent_gradient(grad, self, exponent, result)));
  };
  derive_power(pow);
  derive_power(pow_);
  const auto derive_number_power = [&](const auto& op) {
    derive(m, op, SB_GRAD(self, (grad, self, exponent), base_gradient(grad, self, exponent)));
  };
  derive_number_power(pow_Tensor_Scalar);
  derive_number_power(pow__Scalar);
  derive(m, pow_Scalar,
         SB_GRAD(exponent, (grad, self, exponent, result),
                 exponent_gradient(grad, self, exponent, result)));
}

}  // namespace
}  // namespace sb
