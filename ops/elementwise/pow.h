// Powers.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_POW_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_POW_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Integers stay integers, and wrap; of their negative powers, only those of 1 and -1 are not 0.
// RuntimeError for a negative integer `exponent` that is a number.
SB_STRUCTURED_NO_INPLACE(pow, "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                         "Tensor_Tensor_out");
SB_STRUCTURED_NO_INPLACE(pow_Tensor_Scalar,
                         "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                         "Tensor_Scalar_out");
SB_STRUCTURED_NO_INPLACE(pow_Scalar, "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
                         "Scalar_out");
// In place, the overloads have other names.
SB_OP(pow_, "aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)");
SB_OP(pow__Scalar, "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");

SB_STRUCTURED(square, "aten::square(Tensor self) -> Tensor", "out");

// In float64 or complex128, whatever the dtypes. RuntimeError where `out`, or in place self, has
// another dtype.
SB_STRUCTURED_NO_INPLACE(float_power,
                         "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                         "Tensor_Tensor_out");
SB_STRUCTURED_NO_INPLACE(float_power_Tensor_Scalar,
                         "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                         "Tensor_Scalar_out");
SB_STRUCTURED_NO_INPLACE(float_power_Scalar,
                         "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
                         "Scalar_out");
SB_OP(float_power_, "aten::float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)");
SB_OP(float_power__Scalar,
      "aten::float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");

// self * 2^other.
SB_STRUCTURED_NO_INPLACE(ldexp, "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", "out");
SB_OP(ldexp_, "aten::ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_POW_H_
