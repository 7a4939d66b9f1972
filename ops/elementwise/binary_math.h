// Functions of two numbers. powers are in pow.h.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Integers are computed as floating point, of the default dtype.
SB_OP(atan2, "aten::atan2(Tensor self, Tensor other) -> Tensor");
SB_OP(atan2_, inplace_of(atan2));
SB_OP(atan2_out, out_of(atan2, "out"));
// The magnitude of self with the sign of other.
SB_OP(copysign, "aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(copysign_, inplace_of(copysign));
SB_OP(copysign_out, out_of(copysign, "out"));
SB_OP(copysign_Scalar, "aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(copysign_Scalar_, inplace_of(copysign_Scalar));
SB_OP(copysign_Scalar_out, out_of(copysign_Scalar, "Scalar_out"));
// self * log(other), and self * log1p(other); 0 where self is 0, unless other is NaN.
SB_OP(xlogy, "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(xlogy_, inplace_of(xlogy));
SB_OP(xlogy_out, out_of(xlogy, "OutTensor"));
SB_OP(xlogy_Scalar_Other, "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor");
SB_OP(xlogy_Scalar_Other_, inplace_of(xlogy_Scalar_Other));
SB_OP(xlogy_Scalar_Other_out, out_of(xlogy_Scalar_Other, "OutScalar_Other"));
SB_OP(xlogy_Scalar_Self, "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor");
SB_OP(xlogy_Scalar_Self_out, out_of(xlogy_Scalar_Self, "OutScalar_Self"));
SB_OP(special_xlog1py, "aten::special_xlog1py(Tensor self, Tensor other) -> Tensor");
SB_OP(special_xlog1py_out, out_of(special_xlog1py, "out"));
SB_OP(special_xlog1py_other_scalar,
      "aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(special_xlog1py_other_scalar_out, out_of(special_xlog1py_other_scalar, "other_scalar_out"));
SB_OP(special_xlog1py_self_scalar,
      "aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor");
SB_OP(special_xlog1py_self_scalar_out, out_of(special_xlog1py_self_scalar, "self_scalar_out"));

// Floating-point tensors only. hypot, then
// log(exp(self) + exp(other)), and the same with powers of 2.
SB_OP(hypot, "aten::hypot(Tensor self, Tensor other) -> Tensor");
SB_OP(hypot_, inplace_of(hypot));
SB_OP(hypot_out, out_of(hypot, "out"));
SB_OP(logaddexp, "aten::logaddexp(Tensor self, Tensor other) -> Tensor");
SB_OP(logaddexp_out, out_of(logaddexp, "out"));
SB_OP(logaddexp2, "aten::logaddexp2(Tensor self, Tensor other) -> Tensor");
SB_OP(logaddexp2_out, out_of(logaddexp2, "out"));
// The next number after self in the direction of other. Not for float16.
SB_OP(nextafter, "aten::nextafter(Tensor self, Tensor other) -> Tensor");
SB_OP(nextafter_, inplace_of(nextafter));
SB_OP(nextafter_out, out_of(nextafter, "out"));

// The remainder of a division: fmod has the sign of self, remainder that of other. RuntimeError
// "ZeroDivisionError" for integers divided by 0.
SB_OP(fmod, "aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(fmod_, inplace_of(fmod));
SB_OP(fmod_out, out_of(fmod, "Tensor_out"));
SB_OP(fmod_Scalar, "aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(fmod_Scalar_, inplace_of(fmod_Scalar));
SB_OP(fmod_Scalar_out, out_of(fmod_Scalar, "Scalar_out"));
SB_OP(remainder, "aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(remainder_, inplace_of(remainder));
SB_OP(remainder_out, out_of(remainder, "Tensor_out"));
SB_OP(remainder_Scalar, "aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(remainder_Scalar_, inplace_of(remainder_Scalar));
SB_OP(remainder_Scalar_out, out_of(remainder_Scalar, "Scalar_out"));
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
SB_OP(fmax, "aten::fmax(Tensor self, Tensor other) -> Tensor");
SB_OP(fmax_out, out_of(fmax, "out"));
SB_OP(fmin, "aten::fmin(Tensor self, Tensor other) -> Tensor");
SB_OP(fmin_out, out_of(fmin, "out"));
// 1 above 0, `values` at 0, else 0. RuntimeError unless all have one dtype.
SB_OP(heaviside, "aten::heaviside(Tensor self, Tensor values) -> Tensor");
SB_OP(heaviside_, inplace_of(heaviside));
SB_OP(heaviside_out, out_of(heaviside, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_BINARY_MATH_H_
