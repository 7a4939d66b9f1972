// Estimates of a function's derivatives from its values at points in a row.

#ifndef SWITCHBOARD_OPS_SORTING_GRADIENT_H_
#define SWITCHBOARD_OPS_SORTING_GRADIENT_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// One tensor of self's shape for each of the dimensions (all, if none are given), by differences of
// second order inside and of edge_order 1 or 2 at the ends. spacing: the distance between points,
// 1 without it, one for all dimensions or for each; or their coordinates, a vector for each
// dimension. Integers become floating-point. RuntimeError for uint8 and bool, for dimensions that
// are named twice or have less than edge_order + 1 elements, and for another number of spacings
// than dimensions; IndexError for a dimension out of range. As `torch.gradient`.
SB_OP(gradient_scalarint,
      "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int "
      "edge_order=1) -> Tensor[]");
SB_OP(gradient_scalararray,
      "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
      "Tensor[]");
SB_OP(gradient_array,
      "aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]");
SB_OP(gradient_scalarrayint,
      "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int "
      "edge_order=1) -> Tensor[]");
SB_OP(gradient_scalarrayarray,
      "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int "
      "edge_order=1) -> Tensor[]");
SB_OP(gradient_tensorarrayint,
      "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
      "edge_order=1) -> Tensor[]");
SB_OP(
    gradient_tensorarray,
    "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
    "Tensor[]");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SORTING_GRADIENT_H_
