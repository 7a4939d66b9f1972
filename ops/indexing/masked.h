// Elements chosen by a mask, and where a tensor is not zero.

#ifndef SWITCHBOARD_OPS_INDEXING_MASKED_H_
#define SWITCHBOARD_OPS_INDEXING_MASKED_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The elements of self where the mask is true, both broadcast, in row-major order. The mask is bool
// or uint8, of zeros and ones.
SB_OP(masked_select, "aten::masked_select(Tensor self, Tensor mask) -> Tensor");
SB_OP(masked_select_out, out_of(masked_select, "out"));
// self with its elements where the mask is true replaced by those of `source`, in row-major order.
// RuntimeError where source has too few.
SB_OP(masked_scatter, "aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor");
SB_OP(masked_scatter_, inplace_of(masked_scatter));
SB_OP(masked_scatter_out, out_of(masked_scatter, "out"));

// The indices of the elements that are not zero, one row for each, in row-major order; their
// columns are contiguous. argwhere is the same, where.condition and nonzero_numpy give the columns.
SB_OP(nonzero, "aten::nonzero(Tensor self) -> Tensor");
SB_OP(nonzero_out, out_of(nonzero, "out"));
// The first `size` of them, contiguous, and after them rows of fill_value: a shape that depends on
// no data.
SB_OP(nonzero_static,
      "aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor");
SB_OP(nonzero_static_out, out_of(nonzero_static, "out"));
SB_OP(argwhere, "aten::argwhere(Tensor self) -> Tensor");
SB_OP(nonzero_numpy, "aten::nonzero_numpy(Tensor self) -> Tensor[]");
SB_OP(where_condition, "aten::where(Tensor condition) -> Tensor[]");

// nonzero of a CPU tensor, without a dispatch.
Tensor nonzero_places(const Tensor& self);
// Writes the one element of `value` where the mask is true, whose first dimension is dimension
// `dim` of self.
void fill_masked(const Tensor& self, const Tensor& mask, int64_t dim, const Tensor& value);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_MASKED_H_
