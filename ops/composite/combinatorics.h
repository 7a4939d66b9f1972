// Choices among the elements of a vector, and their powers.

#ifndef SWITCHBOARD_OPS_COMPOSITE_COMBINATORICS_H_
#define SWITCHBOARD_OPS_COMPOSITE_COMBINATORICS_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Rows: all ways to take r elements in order, each at most once unless with_replacement.
SB_OP(combinations,
      "aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor");
// Rows of the powers x^(N-1), ..., x, 1 (of 1, x, ... if increasing); as many as elements by
// default.
SB_OP(vander, "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_COMBINATORICS_H_
