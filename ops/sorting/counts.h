// How often values occur.

#ifndef SWITCHBOARD_OPS_SORTING_COUNTS_H_
#define SWITCHBOARD_OPS_SORTING_COUNTS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// How often 0, 1, 2, ... occur in a vector of integers that are not negative, or the sums of their
// weights: int64, or float64 (float32 for float32 weights). The largest of them says how many
// results there are, and at least `minlength`. Meta tensors have no result.
SB_OP(bincount, "aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor");

// How many elements lie in each of `bins` equal parts of the range from min to max, as numbers of
// self's dtype; where both are equal the range is that of the elements. Elements outside do not
// count. RuntimeError for integral, float16 and complex elements and for an empty or infinite
// range.
SB_OP(histc,
      "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> "
      "Tensor");
SB_OP(histc_out, out_of(histc, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_COUNTS_H_
