// Complex numbers from their parts, and the angle.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// In radians; of real numbers 0, pi below 0, and NaN of NaN. The result is real.
SB_OP(angle, "aten::angle(Tensor self) -> Tensor");
SB_OP(angle_out, out_of(angle, "out"));

// Both of float32 or both of float64; `out` is complex (RuntimeError).
SB_OP(complex, "aten::complex(Tensor real, Tensor imag) -> Tensor");
SB_OP(complex_out, out_of(complex, "out"));
SB_OP(polar, "aten::polar(Tensor abs, Tensor angle) -> Tensor");
SB_OP(polar_out, out_of(polar, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_COMPLEX_PARTS_H_
