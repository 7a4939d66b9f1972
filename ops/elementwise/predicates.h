// Questions about numbers, answered by bool tensors.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// A complex number is NaN or infinite where a part of it is, and finite where both are.
SB_OP(isnan, "aten::isnan(Tensor self) -> Tensor");
SB_OP(isnan_out, out_of(isnan, "out"));
SB_OP(isinf, "aten::isinf(Tensor self) -> Tensor");
SB_OP(isinf_out, out_of(isinf, "out"));
SB_OP(isfinite, "aten::isfinite(Tensor self) -> Tensor");
// Whether the imaginary part is 0.
SB_OP(isreal, "aten::isreal(Tensor self) -> Tensor");
// Not for complex tensors; `out` is bool (RuntimeError).
SB_OP(isposinf, "aten::isposinf(Tensor self) -> Tensor");
SB_OP(isposinf_out, out_of(isposinf, "out"));
SB_OP(isneginf, "aten::isneginf(Tensor self) -> Tensor");
SB_OP(isneginf_out, out_of(isneginf, "out"));

// |self - other| <= atol + rtol * |other|, and equal infinities; where equal_nan, NaN equals NaN.
// RuntimeError unless both have one dtype and the tolerances are not negative.
SB_OP(isclose,
      "aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool "
      "equal_nan=False) -> Tensor");
// Whether that holds for all elements.
SB_OP(allclose,
      "aten::allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool "
      "equal_nan=False) -> bool");

// NaN and the infinities replaced: by 0, and the largest and the smallest number of the dtype,
// where nothing is given. `out` has self's dtype (RuntimeError).
SB_OP(nan_to_num,
      "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? "
      "neginf=None) -> Tensor");
SB_OP(nan_to_num_, inplace_of(nan_to_num));
SB_OP(nan_to_num_out, out_of(nan_to_num, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_
