// The lower and the upper triangle of matrices.

#ifndef SWITCHBOARD_OPS_INDEXING_TRIANGLES_H_
#define SWITCHBOARD_OPS_INDEXING_TRIANGLES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The matrices in the last two dimensions with the elements above (tril) or below (triu) a diagonal
// set to 0; diagonal 1 is the one above the main one. IndexError for less than 2 dimensions.
SB_OP(tril, "aten::tril(Tensor self, SymInt diagonal=0) -> Tensor");
SB_OP(tril_, inplace_of(tril));
SB_OP(tril_out, out_of(tril, "out"));
SB_OP(triu, "aten::triu(Tensor self, SymInt diagonal=0) -> Tensor");
SB_OP(triu_, inplace_of(triu));
SB_OP(triu_out, out_of(triu, "out"));

// The rows and the columns of the elements that tril and triu leave of a row x col matrix, in
// row-major order: a tensor of two rows, int64 or int32.
SB_OP(tril_indices,
      "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");
SB_OP(triu_indices,
      "aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_TRIANGLES_H_
