// Comparisons, which give bool tensors, maximum and minimum, and logic.

#ifndef SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_
#define SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Both operands are converted to their common dtype first. A given output may have any dtype. Only
// eq and ne compare complex numbers.
SB_OP(eq, "aten::eq.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(eq_, inplace_of(eq));
SB_OP(eq_out, out_of(eq, "Tensor_out"));
SB_OP(eq_Scalar, "aten::eq.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(eq_Scalar_, inplace_of(eq_Scalar));
SB_OP(eq_Scalar_out, out_of(eq_Scalar, "Scalar_out"));
SB_OP(ne, "aten::ne.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(ne_, inplace_of(ne));
SB_OP(ne_out, out_of(ne, "Tensor_out"));
SB_OP(ne_Scalar, "aten::ne.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(ne_Scalar_, inplace_of(ne_Scalar));
SB_OP(ne_Scalar_out, out_of(ne_Scalar, "Scalar_out"));
SB_OP(lt, "aten::lt.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(lt_, inplace_of(lt));
SB_OP(lt_out, out_of(lt, "Tensor_out"));
SB_OP(lt_Scalar, "aten::lt.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(lt_Scalar_, inplace_of(lt_Scalar));
SB_OP(lt_Scalar_out, out_of(lt_Scalar, "Scalar_out"));
SB_OP(le, "aten::le.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(le_, inplace_of(le));
SB_OP(le_out, out_of(le, "Tensor_out"));
SB_OP(le_Scalar, "aten::le.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(le_Scalar_, inplace_of(le_Scalar));
SB_OP(le_Scalar_out, out_of(le_Scalar, "Scalar_out"));
SB_OP(gt, "aten::gt.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(gt_, inplace_of(gt));
SB_OP(gt_out, out_of(gt, "Tensor_out"));
SB_OP(gt_Scalar, "aten::gt.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(gt_Scalar_, inplace_of(gt_Scalar));
SB_OP(gt_Scalar_out, out_of(gt_Scalar, "Scalar_out"));
SB_OP(ge, "aten::ge.Tensor(Tensor self, Tensor other) -> Tensor");
SB_OP(ge_, inplace_of(ge));
SB_OP(ge_out, out_of(ge, "Tensor_out"));
SB_OP(ge_Scalar, "aten::ge.Scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(ge_Scalar_, inplace_of(ge_Scalar));
SB_OP(ge_Scalar_out, out_of(ge_Scalar, "Scalar_out"));

// The larger and the smaller; NaN where one of them is NaN. max.other is the same as maximum.
SB_OP(maximum, "aten::maximum(Tensor self, Tensor other) -> Tensor");
SB_OP(maximum_out, out_of(maximum, "out"));
SB_OP(minimum, "aten::minimum(Tensor self, Tensor other) -> Tensor");
SB_OP(minimum_out, out_of(minimum, "out"));
SB_OP(max_other, "aten::max.other(Tensor self, Tensor other) -> Tensor");
SB_OP(max_other_out, out_of(max_other, "out"));
SB_OP(min_other, "aten::min.other(Tensor self, Tensor other) -> Tensor");
SB_OP(min_other_out, out_of(min_other, "out"));

// Everything but 0 is true. A given output may have any dtype.
SB_OP(logical_and, "aten::logical_and(Tensor self, Tensor other) -> Tensor");
SB_OP(logical_and_, inplace_of(logical_and));
SB_OP(logical_and_out, out_of(logical_and, "out"));
SB_OP(logical_or, "aten::logical_or(Tensor self, Tensor other) -> Tensor");
SB_OP(logical_or_, inplace_of(logical_or));
SB_OP(logical_or_out, out_of(logical_or, "out"));
SB_OP(logical_xor, "aten::logical_xor(Tensor self, Tensor other) -> Tensor");
SB_OP(logical_xor_, inplace_of(logical_xor));
SB_OP(logical_xor_out, out_of(logical_xor, "out"));
SB_OP(logical_not, "aten::logical_not(Tensor self) -> Tensor");
SB_OP(logical_not_, inplace_of(logical_not));
SB_OP(logical_not_out, out_of(logical_not, "out"));

// What a device gives its own arithmetic (register_elementwise).
struct ElementwiseOp;
extern const ElementwiseOp eq_arithmetic, ne_arithmetic, lt_arithmetic, le_arithmetic,
    gt_arithmetic, ge_arithmetic, maximum_arithmetic, minimum_arithmetic, logical_and_arithmetic,
    logical_or_arithmetic, logical_xor_arithmetic, logical_not_arithmetic;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ARITHMETIC_COMPARISON_H_
