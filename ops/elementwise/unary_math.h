// Functions of one number: trigonometry, exponentials and logarithms. exp, log, sqrt, sin, cos,
// tanh and sigmoid are in ops/arithmetic/unary.h, the gamma function and its like in
// special_functions.h.
//
// Integral tensors are computed as floating point, of the default dtype. As the functions of
// `torch` of these names.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

SB_STRUCTURED(acos, "aten::acos(Tensor self) -> Tensor", "out");
SB_STRUCTURED(asin, "aten::asin(Tensor self) -> Tensor", "out");
SB_STRUCTURED(atan, "aten::atan(Tensor self) -> Tensor", "out");
SB_STRUCTURED(tan, "aten::tan(Tensor self) -> Tensor", "out");
SB_STRUCTURED(acosh, "aten::acosh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(asinh, "aten::asinh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(atanh, "aten::atanh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(cosh, "aten::cosh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(sinh, "aten::sinh(Tensor self) -> Tensor", "out");
SB_STRUCTURED(log2, "aten::log2(Tensor self) -> Tensor", "out");
SB_STRUCTURED(log10, "aten::log10(Tensor self) -> Tensor", "out");
// sin(pi * x) / (pi * x), and 1 at 0.
SB_STRUCTURED(sinc, "aten::sinc(Tensor self) -> Tensor", "out");

// Not for complex tensors.
SB_STRUCTURED(exp2, "aten::exp2(Tensor self) -> Tensor", "out");
SB_STRUCTURED(expm1, "aten::expm1(Tensor self) -> Tensor", "out");
SB_STRUCTURED(log1p, "aten::log1p(Tensor self) -> Tensor", "out");
SB_STRUCTURED(erf, "aten::erf(Tensor self) -> Tensor", "out");
SB_STRUCTURED(erfc, "aten::erfc(Tensor self) -> Tensor", "out");
// log(x / (1 - x)), of x limited to [eps, 1 - eps] where eps is given.
SB_STRUCTURED(logit, "aten::logit(Tensor self, float? eps=None) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_
