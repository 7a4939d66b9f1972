// Complex numbers from their parts, and the angle.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// In radians; of real numbers 0, pi below 0, and NaN of NaN. The result is real.
SB_STRUCTURED_NO_INPLACE(angle, "aten::angle(Tensor self) -> Tensor", "out");

// Both of float32 or both of float64; `out` is complex (RuntimeError).
SB_STRUCTURED_NO_INPLACE(complex, "aten::complex(Tensor real, Tensor imag) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(polar, "aten::polar(Tensor abs, Tensor angle) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_
