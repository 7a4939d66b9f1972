// Rounding, signs and the parts of numbers.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Integral tensors stay as they are. RuntimeError for complex and bool ones.
SB_STRUCTURED(ceil, "aten::ceil(Tensor self) -> Tensor", "out");
SB_STRUCTURED(floor, "aten::floor(Tensor self) -> Tensor", "out");
SB_STRUCTURED(trunc, "aten::trunc(Tensor self) -> Tensor", "out");
// Halves go to the even neighbour.
SB_STRUCTURED(round, "aten::round(Tensor self) -> Tensor", "out");
// To a number of decimal places, which may be negative. Floating-point tensors only.
SB_STRUCTURED(round_decimals, "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
              "decimals_out");
// x - trunc(x). Floating-point tensors only.
SB_STRUCTURED(frac, "aten::frac(Tensor self) -> Tensor", "out");

// -1, 0 or 1; not for complex tensors. Of NaN, 0.
SB_STRUCTURED(sign, "aten::sign(Tensor self) -> Tensor", "out");
// The same, and z / |z| of complex numbers.
SB_STRUCTURED(sgn, "aten::sgn(Tensor self) -> Tensor", "out");
// Whether the sign bit is set: -0. counts. The result, and `out`, is bool.
SB_STRUCTURED_NO_INPLACE(signbit, "aten::signbit(Tensor self) -> Tensor", "out");

// 180 degrees are pi. Integral tensors become floating point.
SB_STRUCTURED(deg2rad, "aten::deg2rad(Tensor self) -> Tensor", "out");
SB_STRUCTURED(rad2deg, "aten::rad2deg(Tensor self) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ROUNDING_H_
