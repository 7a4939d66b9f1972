// Sliding windows, and the gradients of views and selections: zeros with grad where the view was.

#ifndef SWITCHBOARD_OPS_INDEXING_VIEW_BACKWARD_H_
#define SWITCHBOARD_OPS_INDEXING_VIEW_BACKWARD_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// All windows of `size` elements along a dimension, `step` apart: the dimension counts the windows,
// and a new last one is inside them.
SB_OP(unfold, "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)");
// The sum of the windows' gradients for each element.
SB_OP(unfold_backward,
      "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int "
      "size, int step) -> Tensor");
SB_OP(unfold_backward_out, out_of(unfold_backward, "out"));

SB_OP(select_backward,
      "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, "
      "SymInt index) -> Tensor");
SB_OP(select_backward_out, out_of(select_backward, "out"));
SB_OP(slice_backward,
      "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, "
      "SymInt start, SymInt end, SymInt step) -> Tensor");
SB_OP(slice_backward_out, out_of(slice_backward, "out"));
SB_OP(index_select_backward,
      "aten::index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> "
      "Tensor");
// Of a reduction that picks one element along `dim`: max, min, median, ...
SB_OP(value_selecting_reduction_backward,
      "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] "
      "sizes, "
      "bool keepdim) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_VIEW_BACKWARD_H_
