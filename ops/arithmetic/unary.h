// Functions of one tensor: relu, exp, log, roots, trigonometry, sigmoid.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_
#define SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// The larger of self and 0. Not for bool and complex tensors.
SB_STRUCTURED(relu, "aten::relu(Tensor self) -> Tensor", "out");

// Integral tensors are computed as floating point, of the default dtype.
SB_STRUCTURED(exp, "aten::exp(Tensor self) -> Tensor", "out");
SB_STRUCTURED(log, "aten::log(Tensor self) -> Tensor", "out");
SB_STRUCTURED(sqrt, "aten::sqrt(Tensor self) -> Tensor", "out");
SB_STRUCTURED(rsqrt, "aten::rsqrt(Tensor self) -> Tensor", "out");
SB_STRUCTURED(sin, "aten::sin(Tensor self) -> Tensor", "out");
SB_STRUCTURED(cos, "aten::cos(Tensor self) -> Tensor", "out");
SB_STRUCTURED(tanh, "aten::tanh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(sigmoid, "aten::sigmoid(Tensor self) -> Tensor", "out");
SB_STRUCTURED(reciprocal, "aten::reciprocal(Tensor self) -> Tensor", "out");

// What a device gives its own arithmetic (register_elementwise).
struct ElementwiseOp;
extern const ElementwiseOp relu_arithmetic, exp_arithmetic, log_arithmetic, sqrt_arithmetic,
    rsqrt_arithmetic, sin_arithmetic, cos_arithmetic, tanh_arithmetic, sigmoid_arithmetic,
    reciprocal_arithmetic;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_UNARY_H_
