// Softmax and its logarithm, along a dimension.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_
#define SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of floating-point tensors; the result is contiguous. `half_to_float` is for other devices:
// RuntimeError.
SB_OP(_softmax, "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor");
SB_OP(_softmax_out, out_of(_softmax, "out"));
SB_OP(_log_softmax, "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor");
SB_OP(_log_softmax_out, out_of(_log_softmax, "out"));
// The gradient of the input, from that of the output and the output.
SB_OP(_log_softmax_backward_data,
      "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int "
      "dim, ScalarType input_dtype) -> Tensor");
SB_OP(_log_softmax_backward_data_out, out_of(_log_softmax_backward_data, "out"));
SB_OP(_softmax_backward_data,
      "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
      "input_dtype) -> Tensor");
SB_OP(_softmax_backward_data_out,
      "aten::_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType "
      "input_dtype, *, Tensor(a!) grad_input) -> Tensor(a!)");

// As `torch.softmax` and `torch.log_softmax`: of self converted to `dtype`, where it is given.
SB_OP(softmax, "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(softmax_out, out_of(softmax, "int_out"));
SB_OP(log_softmax, "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(log_softmax_out, out_of(log_softmax, "int_out"));
// softmax, but zeros where all of a row are -infinity.
SB_OP(_safe_softmax, "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(special_softmax,
      "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(special_log_softmax,
      "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_
