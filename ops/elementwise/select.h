// Choosing elements by a condition: where and masked_fill.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_SELECT_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_SELECT_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// self where condition holds, else other; all three broadcast. The condition is bool, or uint8
// (RuntimeError). As `torch.where`.
SB_OP(where, "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor");
SB_OP(where_out,
      "aten::where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) -> "
      "Tensor(a!)");
SB_OP(where_ScalarSelf,
      "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor");
SB_OP(where_ScalarOther,
      "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor");
SB_OP(where_Scalar, "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor");

// self with `value` where mask holds. The mask is bool, or uint8 of 0 and 1. In place, it
// broadcasts to self's shape; else both broadcast, and the result is contiguous. RuntimeError where
// value does not fit self's dtype.
SB_OP(masked_fill, "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor");
SB_OP(masked_fill_out, out_of(masked_fill, "Scalar_out"));
// `value` is 0-dim.
SB_OP(masked_fill_Tensor,
      "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor");
SB_OP(masked_fill_Tensor_out, out_of(masked_fill_Tensor, "Tensor_out"));
SB_OP(masked_fill_,
      "aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)");
SB_OP(masked_fill__Tensor,
      "aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_SELECT_H_
