// Questions about numbers, answered by bool tensors.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// A complex number is NaN or infinite where a part of it is, and finite where both are.
SB_STRUCTURED_NO_INPLACE(isnan, "aten::isnan(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(isinf, "aten::isinf(Tensor self) -> Tensor", "out");
SB_OP(isfinite, "aten::isfinite(Tensor self) -> Tensor");
// Whether the imaginary part is 0.
SB_OP(isreal, "aten::isreal(Tensor self) -> Tensor");
// Not for complex tensors; `out` is bool (RuntimeError).
SB_STRUCTURED_NO_INPLACE(isposinf, "aten::isposinf(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(isneginf, "aten::isneginf(Tensor self) -> Tensor", "out");

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
SB_STRUCTURED(nan_to_num,
              "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? "
              "neginf=None) -> Tensor",
              "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_PREDICATES_H_
