// Operators of the bits of integers, and of their divisors. RuntimeError for other dtypes.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// bool tensors too.
SB_OP(bitwise_and, "aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(bitwise_and_, inplace_of(bitwise_and));
SB_OP(bitwise_and_out, out_of(bitwise_and, "Tensor_out"));
SB_OP(bitwise_and_Scalar, "aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(bitwise_and_Scalar_, inplace_of(bitwise_and_Scalar));
SB_OP(bitwise_and_Scalar_out, out_of(bitwise_and_Scalar, "Scalar_out"));
SB_OP(bitwise_and_Scalar_Tensor,
      "aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_OP(bitwise_or, "aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(bitwise_or_, inplace_of(bitwise_or));
SB_OP(bitwise_or_out, out_of(bitwise_or, "Tensor_out"));
SB_OP(bitwise_or_Scalar, "aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(bitwise_or_Scalar_, inplace_of(bitwise_or_Scalar));
SB_OP(bitwise_or_Scalar_out, out_of(bitwise_or_Scalar, "Scalar_out"));
SB_OP(bitwise_or_Scalar_Tensor,
      "aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_OP(bitwise_xor, "aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(bitwise_xor_, inplace_of(bitwise_xor));
SB_OP(bitwise_xor_out, out_of(bitwise_xor, "Tensor_out"));
SB_OP(bitwise_xor_Scalar, "aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(bitwise_xor_Scalar_, inplace_of(bitwise_xor_Scalar));
SB_OP(bitwise_xor_Scalar_out, out_of(bitwise_xor_Scalar, "Scalar_out"));
SB_OP(bitwise_xor_Scalar_Tensor,
      "aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_OP(bitwise_not, "aten::bitwise_not(Tensor self) -> Tensor");
SB_OP(bitwise_not_, inplace_of(bitwise_not));
SB_OP(bitwise_not_out, out_of(bitwise_not, "out"));

// Right shifts keep the sign. Of the number of bits to shift by, the lowest 5 count (6 for int64),
// as on x86.
SB_OP(bitwise_left_shift, "aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(bitwise_left_shift_, inplace_of(bitwise_left_shift));
SB_OP(bitwise_left_shift_out, out_of(bitwise_left_shift, "Tensor_out"));
SB_OP(bitwise_left_shift_Tensor_Scalar,
      "aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(bitwise_left_shift_Tensor_Scalar_, inplace_of(bitwise_left_shift_Tensor_Scalar));
SB_OP(bitwise_left_shift_Tensor_Scalar_out,
      out_of(bitwise_left_shift_Tensor_Scalar, "Tensor_Scalar_out"));
SB_OP(bitwise_left_shift_Scalar_Tensor,
      "aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_OP(bitwise_right_shift, "aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(bitwise_right_shift_, inplace_of(bitwise_right_shift));
SB_OP(bitwise_right_shift_out, out_of(bitwise_right_shift, "Tensor_out"));
SB_OP(bitwise_right_shift_Tensor_Scalar,
      "aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(bitwise_right_shift_Tensor_Scalar_, inplace_of(bitwise_right_shift_Tensor_Scalar));
SB_OP(bitwise_right_shift_Tensor_Scalar_out,
      out_of(bitwise_right_shift_Tensor_Scalar, "Tensor_Scalar_out"));
SB_OP(bitwise_right_shift_Scalar_Tensor,
      "aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");

// The greatest common divisor and the least common multiple, neither below 0 unless it wraps.
SB_OP(gcd, "aten::gcd(Tensor self, Tensor other) -> Tensor");
SB_OP(gcd_, inplace_of(gcd));
SB_OP(gcd_out, out_of(gcd, "out"));
SB_OP(lcm, "aten::lcm(Tensor self, Tensor other) -> Tensor");
SB_OP(lcm_, inplace_of(lcm));
SB_OP(lcm_out, out_of(lcm, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_
