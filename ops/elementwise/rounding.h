// Rounding, signs and the parts of numbers.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Integral tensors stay as they are. RuntimeError for complex and bool ones.
SB_OP(ceil, "aten::ceil(Tensor self) -> Tensor");
SB_OP(ceil_, inplace_of(ceil));
SB_OP(ceil_out, out_of(ceil, "out"));
SB_OP(floor, "aten::floor(Tensor self) -> Tensor");
SB_OP(floor_, inplace_of(floor));
SB_OP(floor_out, out_of(floor, "out"));
SB_OP(trunc, "aten::trunc(Tensor self) -> Tensor");
SB_OP(trunc_, inplace_of(trunc));
SB_OP(trunc_out, out_of(trunc, "out"));
// Halves go to the even neighbour.
SB_OP(round, "aten::round(Tensor self) -> Tensor");
SB_OP(round_, inplace_of(round));
SB_OP(round_out, out_of(round, "out"));
// To a number of decimal places, which may be negative. Floating-point tensors only.
SB_OP(round_decimals, "aten::round.decimals(Tensor self, *, int decimals) -> Tensor");
SB_OP(round_decimals_, inplace_of(round_decimals));
SB_OP(round_decimals_out, out_of(round_decimals, "decimals_out"));
// x - trunc(x). Floating-point tensors only.
SB_OP(frac, "aten::frac(Tensor self) -> Tensor");
SB_OP(frac_, inplace_of(frac));
SB_OP(frac_out, out_of(frac, "out"));

// -1, 0 or 1; not for complex tensors. Of NaN, 0.
SB_OP(sign, "aten::sign(Tensor self) -> Tensor");
SB_OP(sign_, inplace_of(sign));
SB_OP(sign_out, out_of(sign, "out"));
// The same, and z / |z| of complex numbers.
SB_OP(sgn, "aten::sgn(Tensor self) -> Tensor");
SB_OP(sgn_, inplace_of(sgn));
SB_OP(sgn_out, out_of(sgn, "out"));
// Whether the sign bit is set: -0. counts. The result, and `out`, is bool.
SB_OP(signbit, "aten::signbit(Tensor self) -> Tensor");
SB_OP(signbit_out, out_of(signbit, "out"));

// 180 degrees are pi. Integral tensors become floating point.
SB_OP(deg2rad, "aten::deg2rad(Tensor self) -> Tensor");
SB_OP(deg2rad_, inplace_of(deg2rad));
SB_OP(deg2rad_out, out_of(deg2rad, "out"));
SB_OP(rad2deg, "aten::rad2deg(Tensor self) -> Tensor");
SB_OP(rad2deg_, inplace_of(rad2deg));
SB_OP(rad2deg_out, out_of(rad2deg, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_
