// Distinct elements, rows and runs. How many there are only the data says, so that meta tensors
// have no result.

#ifndef SWITCHBOARD_OPS_SORTING_UNIQUE_H_
#define SWITCHBOARD_OPS_SORTING_UNIQUE_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The distinct elements of all, in ascending order or (not sorted) in that of a hash table; for
// each element which of them it is; and how often each occurs. What is not asked for is empty. NaN
// is distinct from itself. RuntimeError for complex and float16 elements.
SB_OP(_unique,
      "aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> "
      "(Tensor, Tensor)");
SB_OP(_unique2,
      "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, "
      "bool return_counts=False) -> (Tensor, Tensor, Tensor)");
// The distinct slices along a dimension, always in lexicographic order.
SB_OP(unique_dim,
      "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
      "bool return_counts=False) -> (Tensor, Tensor, Tensor)");
// The first of each run of equal elements, or slices.
SB_OP(unique_consecutive,
      "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
      "int? dim=None) -> (Tensor, Tensor, Tensor)");
SB_OP(unique_dim_consecutive,
      "aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, "
      "bool return_counts=False) -> (Tensor, Tensor, Tensor)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_UNIQUE_H_
