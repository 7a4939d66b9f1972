// Functions of one number: trigonometry, exponentials and logarithms. exp, log, sqrt, sin, cos,
// tanh and sigmoid are in ops/arithmetic/unary.h, the gamma function and its like in
// special_functions.h.
//
// Integral tensors are computed as floating point, of the default dtype. As the functions of
// `torch` of these names.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(acos, "aten::acos(Tensor self) -> Tensor");
SB_OP(acos_, inplace_of(acos));
SB_OP(acos_out, out_of(acos, "out"));
SB_OP(asin, "aten::asin(Tensor self) -> Tensor");
SB_OP(asin_, inplace_of(asin));
SB_OP(asin_out, out_of(asin, "out"));
SB_OP(atan, "aten::atan(Tensor self) -> Tensor");
SB_OP(atan_, inplace_of(atan));
SB_OP(atan_out, out_of(atan, "out"));
SB_OP(tan, "aten::tan(Tensor self) -> Tensor");
SB_OP(tan_, inplace_of(tan));
SB_OP(tan_out, out_of(tan, "out"));
SB_OP(acosh, "aten::acosh(Tensor self) -> Tensor");
SB_OP(acosh_, inplace_of(acosh));
SB_OP(acosh_out, out_of(acosh, "out"));
SB_OP(asinh, "aten::asinh(Tensor self) -> Tensor");
SB_OP(asinh_, inplace_of(asinh));
SB_OP(asinh_out, out_of(asinh, "out"));
SB_OP(atanh, "aten::atanh(Tensor self) -> Tensor");
SB_OP(atanh_, inplace_of(atanh));
SB_OP(atanh_out, out_of(atanh, "out"));
SB_OP(cosh, "aten::cosh(Tensor self) -> Tensor");
SB_OP(cosh_, inplace_of(cosh));
SB_OP(cosh_out, out_of(cosh, "out"));
SB_OP(sinh, "aten::sinh(Tensor self) -> Tensor");
SB_OP(sinh_, inplace_of(sinh));
SB_OP(sinh_out, out_of(sinh, "out"));
SB_OP(log2, "aten::log2(Tensor self) -> Tensor");
SB_OP(log2_, inplace_of(log2));
SB_OP(log2_out, out_of(log2, "out"));
SB_OP(log10, "aten::log10(Tensor self) -> Tensor");
SB_OP(log10_, inplace_of(log10));
SB_OP(log10_out, out_of(log10, "out"));
// sin(pi * x) / (pi * x), and 1 at 0.
SB_OP(sinc, "aten::sinc(Tensor self) -> Tensor");
SB_OP(sinc_, inplace_of(sinc));
SB_OP(sinc_out, out_of(sinc, "out"));

// Not for complex tensors.
SB_OP(exp2, "aten::exp2(Tensor self) -> Tensor");
SB_OP(exp2_, inplace_of(exp2));
SB_OP(exp2_out, out_of(exp2, "out"));
SB_OP(expm1, "aten::expm1(Tensor self) -> Tensor");
SB_OP(expm1_, inplace_of(expm1));
SB_OP(expm1_out, out_of(expm1, "out"));
SB_OP(log1p, "aten::log1p(Tensor self) -> Tensor");
SB_OP(log1p_, inplace_of(log1p));
SB_OP(log1p_out, out_of(log1p, "out"));
SB_OP(erf, "aten::erf(Tensor self) -> Tensor");
SB_OP(erf_, inplace_of(erf));
SB_OP(erf_out, out_of(erf, "out"));
SB_OP(erfc, "aten::erfc(Tensor self) -> Tensor");
SB_OP(erfc_, inplace_of(erfc));
SB_OP(erfc_out, out_of(erfc, "out"));
// x = mantissa * 2^exponent, the mantissa in [1/2, 1) or 0. The exponent is int32, not told for
// what is not finite.
SB_OP(frexp, "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)");
SB_OP(frexp_out, out_of(frexp, "Tensor_out", {"mantissa", "exponent"}));
// log(x / (1 - x)), of x limited to [eps, 1 - eps] where eps is given.
SB_OP(logit, "aten::logit(Tensor self, float? eps=None) -> Tensor");
SB_OP(logit_, inplace_of(logit));
SB_OP(logit_out, out_of(logit, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_UNARY_MATH_H_
