// Sorting along a dimension. NaN counts as the largest number. Not for complex dtypes.

#ifndef SWITCHBOARD_OPS_SORTING_SORT_H_
#define SWITCHBOARD_OPS_SORTING_SORT_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The elements of each row in order, and where in the row they were. Equal elements keep their
// order, whatever `stable` says. IndexError for a bad dimension.
SB_OP(sort,
      "aten::sort(Tensor self, int dim=-1, bool descending=False) -> "
      "(Tensor values, Tensor indices)");
SB_OP(sort_out, out_of(sort, "values", {"values", "indices"}));
SB_OP(sort_stable,
      "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, "
      "bool descending=False) -> (Tensor values, Tensor indices)");
SB_OP(sort_stable_out, out_of(sort_stable, "values_stable", {"values", "indices"}));
SB_OP(argsort, "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor");
SB_OP(argsort_stable,
      "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> "
      "Tensor");
// The values of sort along dimension 0.
SB_OP(msort, "aten::msort(Tensor self) -> Tensor");
SB_OP(msort_out, out_of(msort, "out"));

// The k largest (or smallest) elements of each row, the most extreme first, and where they were.
// Which of equal elements is taken is not said. RuntimeError for a k that is not 0 to the row's
// size, and for bool and float16 elements.
SB_OP(topk,
      "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, "
      "bool sorted=True) -> (Tensor values, Tensor indices)");
SB_OP(topk_out, out_of(topk, "values", {"values", "indices"}));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_SORT_H_
