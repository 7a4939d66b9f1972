// Elements in another order: reversed, rotated, rolled.

#ifndef SWITCHBOARD_OPS_INDEXING_FLIP_H_
#define SWITCHBOARD_OPS_INDEXING_FLIP_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// A copy with the dimensions reversed; none twice.
SB_OP(flip, "aten::flip(Tensor self, int[] dims) -> Tensor");
SB_OP(flip_out, out_of(flip, "out"));
// flip of dimension 1, and of dimension 0.
SB_OP(fliplr, "aten::fliplr(Tensor self) -> Tensor");
SB_OP(flipud, "aten::flipud(Tensor self) -> Tensor");
// Rotated by k quarter turns, from the first of the two dimensions to the second.
SB_OP(rot90, "aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor");
SB_OP(rot90_out, out_of(rot90, "out"));
// A copy in which elements moved on by shifts[i] in dims[i], those at the end to the beginning. No
// dims: as if self were flat.
SB_OP(roll, "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor");
SB_OP(roll_out, out_of(roll, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_FLIP_H_
