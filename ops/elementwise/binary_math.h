// Functions of two numbers. powers are in pow.h.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Integers are computed as floating point, of the default dtype.
SB_STRUCTURED(atan2, "aten::atan2(Tensor self, Tensor other) -> Tensor", "out");
// The magnitude of self with the sign of other.
SB_STRUCTURED(copysign, "aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(copysign_Scalar, "aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor",
              "Scalar_out");
// self * log(other), and self * log1p(other); 0 where self is 0, unless other is NaN.
SB_STRUCTURED(xlogy, "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", "OutTensor");
SB_STRUCTURED(xlogy_Scalar_Other, "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
              "OutScalar_Other");
SB_STRUCTURED_NO_INPLACE(xlogy_Scalar_Self,
                         "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
                         "OutScalar_Self");
SB_STRUCTURED_NO_INPLACE(special_xlog1py,
                         "aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_xlog1py_other_scalar,
                         "aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
                         "other_scalar_out");
SB_STRUCTURED_NO_INPLACE(special_xlog1py_self_scalar,
                         "aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
                         "self_scalar_out");

// Floating-point tensors only. hypot, then
// log(exp(self) + exp(other)), and the same with powers of 2.
SB_STRUCTURED(hypot, "aten::hypot(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(logaddexp, "aten::logaddexp(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(logaddexp2, "aten::logaddexp2(Tensor self, Tensor other) -> Tensor",
                         "out");
// The next number after self in the direction of other. Not for float16.
SB_STRUCTURED(nextafter, "aten::nextafter(Tensor self, Tensor other) -> Tensor", "out");

// The remainder of a division: fmod has the sign of self, remainder that of other. RuntimeError
// "ZeroDivisionError" for integers divided by 0.
SB_STRUCTURED(fmod, "aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(fmod_Scalar, "aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(remainder, "aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor",
              "Tensor_out");
SB_STRUCTURED(remainder_Scalar, "aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
              "Scalar_out");
SB_OP(remainder_Scalar_Tensor,
      "aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
// div with rounding_mode "floor".
SB_OP(floor_divide, "aten::floor_divide(Tensor self, Tensor other) -> Tensor");
SB_OP(floor_divide_out,
      "aten::floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
SB_OP(floor_divide_, "aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)");
SB_OP(floor_divide_Scalar, "aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(floor_divide__Scalar,
      "aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)");

// The larger and the smaller; where one is NaN, the other.
SB_STRUCTURED_NO_INPLACE(fmax, "aten::fmax(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(fmin, "aten::fmin(Tensor self, Tensor other) -> Tensor", "out");
// 1 above 0, `values` at 0, else 0. RuntimeError unless all have one dtype.
SB_STRUCTURED(heaviside, "aten::heaviside(Tensor self, Tensor values) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_
