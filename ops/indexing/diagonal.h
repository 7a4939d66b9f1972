// Diagonals: as views, written to, and made into matrices.

#ifndef SWITCHBOARD_OPS_INDEXING_DIAGONAL_H_
#define SWITCHBOARD_OPS_INDEXING_DIAGONAL_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The diagonal of dim1 and dim2, as a last dimension; offset 1 is the one above the main one.
// RuntimeError where both are one dimension. linalg_diagonal takes the last two by default.
SB_OP(diagonal,
      "aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)");
SB_OP(linalg_diagonal,
      "aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> "
      "Tensor(a)");
// A copy of self with that diagonal replaced by `src`, of its shape.
SB_OP(diagonal_scatter,
      "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
      "Tensor");
SB_OP(diagonal_scatter_out, out_of(diagonal_scatter, "out"));
// Zeros of a shape with grad_output on that diagonal.
SB_OP(diagonal_backward,
      "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int "
      "dim2) -> Tensor");
SB_OP(diagonal_backward_out, out_of(diagonal_backward, "out"));
// The last dimension as the diagonal of new dimensions dim1 and dim2, with zeros around it.
SB_OP(diag_embed,
      "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor");
SB_OP(diag_embed_out, out_of(diag_embed, "out"));
// A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector, copied.
SB_OP(diag, "aten::diag(Tensor self, int diagonal=0) -> Tensor");
SB_OP(diag_out, out_of(diag, "out"));
// self made flat as the diagonal of a matrix.
SB_OP(diagflat, "aten::diagflat(Tensor self, int offset=0) -> Tensor");
// The sum of the diagonal of a matrix; that of integers is int64.
SB_OP(matrix_trace, "aten::trace(Tensor self) -> Tensor");  // trace() makes graphs
SB_OP(matrix_trace_out, out_of(matrix_trace, "out"));

// Writes the number to each element whose indices are all equal; with `wrap` to every one of a tall
// matrix whose place differs by a multiple of the width plus one, as `numpy.fill_diagonal` does.
// RuntimeError for fewer than 2 dimensions, and for more of which some differ.
SB_OP(fill_diagonal_,
      "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_DIAGONAL_H_
