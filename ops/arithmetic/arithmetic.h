// Arithmetic: add, sub, rsub, mul, div, neg, abs.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_ARITHMETIC_H_
#define SWITCHBOARD_OPS_ARITHMETIC_ARITHMETIC_H_

#include <string_view>

#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(add, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(add_, inplace_of(add));
SB_OP(add_out, out_of(add, "out"));
SB_OP(add_Scalar, "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
SB_OP(add_Scalar_, inplace_of(add_Scalar));
SB_OP(add_Scalar_out, out_of(add_Scalar, "Scalar_out"));
SB_OP(sub, "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(sub_, inplace_of(sub));
SB_OP(sub_out, out_of(sub, "out"));
SB_OP(sub_Scalar, "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
SB_OP(sub_Scalar_, inplace_of(sub_Scalar));
SB_OP(sub_Scalar_out, out_of(sub_Scalar, "Scalar_out"));
SB_OP(rsub, "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
SB_OP(rsub_out, out_of(rsub, "Tensor_out"));
SB_OP(rsub_Scalar, "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
SB_OP(rsub_Scalar_out, out_of(rsub_Scalar, "Scalar_out"));
SB_OP(mul, "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(mul_, inplace_of(mul));
SB_OP(mul_out, out_of(mul, "out"));
SB_OP(mul_Scalar, "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(mul_Scalar_, inplace_of(mul_Scalar));
SB_OP(mul_Scalar_out, out_of(mul_Scalar, "Scalar_out"));

// True division: integers are divided as floating point.
SB_OP(div, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(div_, inplace_of(div));
SB_OP(div_out, out_of(div, "out"));
SB_OP(div_Scalar, "aten::div.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(div_Scalar_, inplace_of(div_Scalar));
SB_OP(div_Scalar_out, out_of(div_Scalar, "Scalar_out"));
// rounding_mode is None (true division), "trunc" (towards 0) or "floor"; with the latter two,
// integers stay integers, and dividing one by 0 throws RuntimeError "ZeroDivisionError".
SB_OP(div_Tensor_mode,
      "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor");
SB_OP(div_Tensor_mode_, inplace_of(div_Tensor_mode));
SB_OP(div_Tensor_mode_out, out_of(div_Tensor_mode, "out_mode"));
SB_OP(div_Scalar_mode,
      "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor");
SB_OP(div_Scalar_mode_, inplace_of(div_Scalar_mode));
SB_OP(div_Scalar_mode_out, out_of(div_Scalar_mode, "Scalar_mode_out"));

SB_OP(neg, "aten::neg(Tensor self) -> Tensor");
SB_OP(neg_, inplace_of(neg));
SB_OP(neg_out, out_of(neg, "out"));
// The absolute value; of complex tensors, a real one.
SB_OP(abs, "aten::abs(Tensor self) -> Tensor");
SB_OP(abs_, inplace_of(abs));
SB_OP(abs_out, out_of(abs, "out"));

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
