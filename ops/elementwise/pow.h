// Powers.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_POW_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_POW_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Integers stay integers, and wrap; of their negative powers, only those of 1 and -1 are not 0.
// RuntimeError for a negative integer `exponent` that is a number.
SB_OP(pow, "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor");
SB_OP(pow_out, out_of(pow, "Tensor_Tensor_out"));
SB_OP(pow_Tensor_Scalar, "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor");
SB_OP(pow_Tensor_Scalar_out, out_of(pow_Tensor_Scalar, "Tensor_Scalar_out"));
SB_OP(pow_Scalar, "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor");
SB_OP(pow_Scalar_out, out_of(pow_Scalar, "Scalar_out"));
// In place, the overloads have other names.
SB_OP(pow_, "aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)");
SB_OP(pow__Scalar, "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");

SB_OP(square, "aten::square(Tensor self) -> Tensor");
SB_OP(square_, inplace_of(square));
SB_OP(square_out, out_of(square, "out"));

// In float64 or complex128, whatever the dtypes. RuntimeError where `out`, or in place self, has
// another dtype.
SB_OP(float_power, "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor");
SB_OP(float_power_out, out_of(float_power, "Tensor_Tensor_out"));
SB_OP(float_power_Tensor_Scalar,
      "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor");
SB_OP(float_power_Tensor_Scalar_out, out_of(float_power_Tensor_Scalar, "Tensor_Scalar_out"));
SB_OP(float_power_Scalar, "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor");
SB_OP(float_power_Scalar_out, out_of(float_power_Scalar, "Scalar_out"));
SB_OP(float_power_, "aten::float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)");
SB_OP(float_power__Scalar,
      "aten::float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");

// self * 2^other.
SB_OP(ldexp, "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(ldexp_out, out_of(ldexp, "out"));
SB_OP(ldexp_, "aten::ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_POW_H_
