// Tensors put together: the relatives of cat and stack. The shapes that they take are NumPy's.

#ifndef SWITCHBOARD_OPS_COMPOSITE_STACK_H_
#define SWITCHBOARD_OPS_COMPOSITE_STACK_H_

#include <vector>

#include "switchboard/ops/define/forms.h"

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
SB_OP(hstack, "aten::hstack(Tensor[] tensors) -> Tensor");
SB_OP(hstack_out, out_of(hstack, "out"));
SB_OP(vstack, "aten::vstack(Tensor[] tensors) -> Tensor");
SB_OP(vstack_out, out_of(vstack, "out"));
SB_OP(row_stack, "aten::row_stack(Tensor[] tensors) -> Tensor");
SB_OP(row_stack_out, out_of(row_stack, "out"));
SB_OP(dstack, "aten::dstack(Tensor[] tensors) -> Tensor");
SB_OP(dstack_out, out_of(dstack, "out"));
// Vectors are columns.
SB_OP(column_stack, "aten::column_stack(Tensor[] tensors) -> Tensor");
SB_OP(column_stack_out, out_of(column_stack, "out"));

// Other names of cat and stack.
SB_OP(concat, "aten::concat(Tensor[] tensors, int dim=0) -> Tensor");
SB_OP(concat_out, out_of(concat, "out"));
SB_OP(concatenate, "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor");
SB_OP(concatenate_out, out_of(concatenate, "out"));
SB_OP(_stack, "aten::_stack(Tensor[] tensors, int dim=0) -> Tensor");
SB_OP(_stack_out, out_of(_stack, "out"));

// Matrices along the diagonal of a matrix of zeros. Vectors are rows.
SB_OP(block_diag, "aten::block_diag(Tensor[] tensors) -> Tensor");
SB_OP(block_diag_out, out_of(block_diag, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_STACK_H_
