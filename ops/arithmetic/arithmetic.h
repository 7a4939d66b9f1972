// Arithmetic: add, sub, rsub, mul, div, neg, abs.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_ARITHMETIC_H_
#define SWITCHBOARD_OPS_ARITHMETIC_ARITHMETIC_H_

#include <string_view>

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

SB_STRUCTURED(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              "out");
SB_STRUCTURED(add_Scalar, "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
              "Scalar_out");
SB_STRUCTURED(sub, "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              "out");
SB_STRUCTURED(sub_Scalar, "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
              "Scalar_out");
SB_STRUCTURED_NO_INPLACE(
    rsub, "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "Tensor_out");
SB_STRUCTURED_NO_INPLACE(rsub_Scalar,
                         "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                         "Scalar_out");
SB_STRUCTURED(mul, "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(mul_Scalar, "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");

// True division: integers are divided as floating point.
SB_STRUCTURED(div, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(div_Scalar, "aten::div.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
// rounding_mode is None (true division), "trunc" (towards 0) or "floor"; with the latter two,
// integers stay integers, and dividing one by 0 throws RuntimeError "ZeroDivisionError".
SB_STRUCTURED(div_Tensor_mode,
              "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
              "out_mode");
SB_STRUCTURED(div_Scalar_mode,
              "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
              "Scalar_mode_out");

SB_STRUCTURED(neg, "aten::neg(Tensor self) -> Tensor", "out");
// The absolute value; of complex tensors, a real one.
SB_STRUCTURED(abs, "aten::abs(Tensor self) -> Tensor", "out");

// For operators that divide: RuntimeError, naming the operator, where integers on the CPU would be
// divided by a zero of `other`.
void check_divisor(std::string_view op, const Tensor& self, const Tensor& other);

// What a device gives its own arithmetic (register_elementwise). The params of add_scaled and
// sub_scaled are a Scalar: what other is multiplied by before it is added.
struct ElementwiseOp;
extern const ElementwiseOp add_arithmetic, add_scaled_arithmetic, sub_arithmetic,
    sub_scaled_arithmetic, mul_arithmetic, div_arithmetic, div_trunc_arithmetic,
    div_floor_arithmetic, neg_arithmetic, abs_arithmetic;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_ARITHMETIC_H_
