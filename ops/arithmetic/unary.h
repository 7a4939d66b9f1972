// Functions of one tensor: relu, exp, log, roots, trigonometry, sigmoid.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_
#define SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The larger of self and 0. Not for bool and complex tensors.
SB_OP(relu, "aten::relu(Tensor self) -> Tensor");
SB_OP(relu_, inplace_of(relu));
SB_OP(relu_out, out_of(relu, "out"));

// Integral tensors are computed as floating point, of the default dtype.
SB_OP(exp, "aten::exp(Tensor self) -> Tensor");
SB_OP(exp_, inplace_of(exp));
SB_OP(exp_out, out_of(exp, "out"));
SB_OP(log, "aten::log(Tensor self) -> Tensor");
SB_OP(log_, inplace_of(log));
SB_OP(log_out, out_of(log, "out"));
SB_OP(sqrt, "aten::sqrt(Tensor self) -> Tensor");
SB_OP(sqrt_, inplace_of(sqrt));
SB_OP(sqrt_out, out_of(sqrt, "out"));
SB_OP(rsqrt, "aten::rsqrt(Tensor self) -> Tensor");
SB_OP(rsqrt_, inplace_of(rsqrt));
SB_OP(rsqrt_out, out_of(rsqrt, "out"));
SB_OP(sin, "aten::sin(Tensor self) -> Tensor");
SB_OP(sin_, inplace_of(sin));
SB_OP(sin_out, out_of(sin, "out"));
SB_OP(cos, "aten::cos(Tensor self) -> Tensor");
SB_OP(cos_, inplace_of(cos));
SB_OP(cos_out, out_of(cos, "out"));
SB_OP(tanh, "aten::tanh(Tensor self) -> Tensor");
SB_OP(tanh_, inplace_of(tanh));
SB_OP(tanh_out, out_of(tanh, "out"));
SB_OP(sigmoid, "aten::sigmoid(Tensor self) -> Tensor");
SB_OP(sigmoid_, inplace_of(sigmoid));
SB_OP(sigmoid_out, out_of(sigmoid, "out"));
SB_OP(reciprocal, "aten::reciprocal(Tensor self) -> Tensor");
SB_OP(reciprocal_, inplace_of(reciprocal));
SB_OP(reciprocal_out, out_of(reciprocal, "out"));

// What a device gives its own arithmetic (register_elementwise).
struct ElementwiseOp;
extern const ElementwiseOp relu_arithmetic, exp_arithmetic, log_arithmetic, sqrt_arithmetic,
    rsqrt_arithmetic, sin_arithmetic, cos_arithmetic, tanh_arithmetic, sigmoid_arithmetic,
    reciprocal_arithmetic;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_
