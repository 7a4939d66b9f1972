// Operators of the bits of integers, and of their divisors. RuntimeError for other dtypes.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// bool tensors too.
SB_STRUCTURED(bitwise_and, "aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
              "Tensor_out");
SB_STRUCTURED(bitwise_and_Scalar, "aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
              "Scalar_out");
SB_OP(bitwise_and_Scalar_Tensor,
      "aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_STRUCTURED(bitwise_or, "aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
              "Tensor_out");
SB_STRUCTURED(bitwise_or_Scalar, "aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor",
              "Scalar_out");
SB_OP(bitwise_or_Scalar_Tensor,
      "aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_STRUCTURED(bitwise_xor, "aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
              "Tensor_out");
SB_STRUCTURED(bitwise_xor_Scalar, "aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
              "Scalar_out");
SB_OP(bitwise_xor_Scalar_Tensor,
      "aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_STRUCTURED(bitwise_not, "aten::bitwise_not(Tensor self) -> Tensor", "out");

// Right shifts keep the sign. Of the number of bits to shift by, the lowest 5 count (6 for int64),
// as on x86.
SB_STRUCTURED(bitwise_left_shift,
              "aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(bitwise_left_shift_Tensor_Scalar,
              "aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
              "Tensor_Scalar_out");
SB_OP(bitwise_left_shift_Scalar_Tensor,
      "aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");
SB_STRUCTURED(bitwise_right_shift,
              "aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
              "Tensor_out");
SB_STRUCTURED(bitwise_right_shift_Tensor_Scalar,
              "aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
              "Tensor_Scalar_out");
SB_OP(bitwise_right_shift_Scalar_Tensor,
      "aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor");

// The greatest common divisor and the least common multiple, neither below 0 unless it wraps.
SB_STRUCTURED(gcd, "aten::gcd(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(lcm, "aten::lcm(Tensor self, Tensor other) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_BITWISE_H_
