// Comparisons, which give bool tensors, maximum and minimum, and logic.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_
#define SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Both operands are converted to their common dtype first. A given output may have any dtype. Only
// eq and ne compare complex numbers.
SB_STRUCTURED(eq, "aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(eq_Scalar, "aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(ne, "aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(ne_Scalar, "aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(lt, "aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(lt_Scalar, "aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(le, "aten::le.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(le_Scalar, "aten::le.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(gt, "aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(gt_Scalar, "aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");
SB_STRUCTURED(ge, "aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", "Tensor_out");
SB_STRUCTURED(ge_Scalar, "aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", "Scalar_out");

// The larger and the smaller; NaN where one of them is NaN. max.other is the same as maximum.
SB_STRUCTURED_NO_INPLACE(maximum, "aten::maximum(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(minimum, "aten::minimum(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(max_other, "aten::max.other(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(min_other, "aten::min.other(Tensor self, Tensor other) -> Tensor", "out");

// Everything but 0 is true. A given output may have any dtype.
SB_STRUCTURED(logical_and, "aten::logical_and(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(logical_or, "aten::logical_or(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(logical_xor, "aten::logical_xor(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(logical_not, "aten::logical_not(Tensor self) -> Tensor", "out");

// What a device gives its own arithmetic (register_elementwise).
struct ElementwiseOp;
extern const ElementwiseOp eq_arithmetic, ne_arithmetic, lt_arithmetic, le_arithmetic,
    gt_arithmetic, ge_arithmetic, maximum_arithmetic, minimum_arithmetic, logical_and_arithmetic,
    logical_or_arithmetic, logical_xor_arithmetic, logical_not_arithmetic;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_
