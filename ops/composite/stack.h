// Tensors put together: the relatives of cat and stack. The shapes that they take are NumPy's.

#ifndef SWITCHBOARD_OPS_COMPOSITE_STACK_H_
#define SWITCHBOARD_OPS_COMPOSITE_STACK_H_

#include <vector>

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// self with as many leading dimensions of size 1 as it lacks (3: a vector becomes [1, n, 1], a
// matrix [m, n, 1]); self itself where it lacks none.
SB_OP(atleast_1d, "aten::atleast_1d(Tensor self) -> Tensor");
SB_OP(atleast_2d, "aten::atleast_2d(Tensor self) -> Tensor");
SB_OP(atleast_3d, "aten::atleast_3d(Tensor self) -> Tensor");
SB_OP(atleast_1d_Sequence, "aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]");
SB_OP(atleast_2d_Sequence, "aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]");
SB_OP(atleast_3d_Sequence, "aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]");

// cat along the first, second and third dimension of tensors of at least 1, 2 and 3 dimensions
// (hstack: along the only one of vectors). RuntimeError for an empty list.
SB_STRUCTURED_NO_INPLACE(hstack, "aten::hstack(Tensor[] tensors) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(vstack, "aten::vstack(Tensor[] tensors) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(row_stack, "aten::row_stack(Tensor[] tensors) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(dstack, "aten::dstack(Tensor[] tensors) -> Tensor", "out");
// Vectors are columns.
SB_STRUCTURED_NO_INPLACE(column_stack, "aten::column_stack(Tensor[] tensors) -> Tensor", "out");

// Other names of cat and stack.
SB_STRUCTURED_NO_INPLACE(concat, "aten::concat(Tensor[] tensors, int dim=0) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(concatenate, "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(_stack, "aten::_stack(Tensor[] tensors, int dim=0) -> Tensor", "out");

// Matrices along the diagonal of a matrix of zeros. Vectors are rows.
SB_STRUCTURED_NO_INPLACE(block_diag, "aten::block_diag(Tensor[] tensors) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_STACK_H_
