// The k-th smallest, the median and the most frequent element. NaN counts as the largest number.

#ifndef SWITCHBOARD_OPS_SORTING_SELECT_H_
#define SWITCHBOARD_OPS_SORTING_SELECT_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of each row along `dim`, and where in the row it was. Which of equal elements is not said.
// IndexError for rows without an element; RuntimeError for complex, bool and float16 elements.
// k counts from 1.
SB_OP(kthvalue,
      "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> "
      "(Tensor values, Tensor indices)");
SB_OP(kthvalue_out, out_of(kthvalue, "values", {"values", "indices"}));
// The lower of two medians; NaN where there is one. nanmedian leaves NaN out.
SB_OP(median_dim,
      "aten::median.dim(Tensor self, int dim, bool keepdim=False) -> "
      "(Tensor values, Tensor indices)");
SB_OP(median_dim_out, out_of(median_dim, "dim_values", {"values", "indices"}));
SB_OP(nanmedian_dim,
      "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> "
      "(Tensor values, Tensor indices)");
SB_OP(nanmedian_dim_out, out_of(nanmedian_dim, "dim_values", {"values", "indices"}));
// The smallest of the most frequent elements, and where it stands last. float16 and bool, too.
SB_OP(mode,
      "aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> "
      "(Tensor values, Tensor indices)");
SB_OP(mode_out, out_of(mode, "values", {"values", "indices"}));

// Of all elements; NaN, as far as the dtype has one, where there is no element.
SB_OP(median, "aten::median(Tensor self) -> Tensor");
SB_OP(nanmedian, "aten::nanmedian(Tensor self) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_SELECT_H_
