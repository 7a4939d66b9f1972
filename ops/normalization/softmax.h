// Softmax and its logarithm, along a dimension.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_
#define SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Of floating-point tensors; the result is contiguous. `half_to_float` is for other devices:
// RuntimeError.
SB_STRUCTURED_NO_INPLACE(_softmax,
                         "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(_log_softmax,
                         "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                         "out");
// The gradient of the input, from that of the output and the output.
SB_STRUCTURED_NO_INPLACE(_log_softmax_backward_data,
                         "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int "
                         "dim, ScalarType input_dtype) -> Tensor",
                         "out");
SB_OP(_softmax_backward_data,
      "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
      "input_dtype) -> Tensor");
SB_OP(_softmax_backward_data_out,
      "aten::_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType "
      "input_dtype, *, Tensor(a!) grad_input) -> Tensor(a!)");

// As `torch.softmax` and `torch.log_softmax`: of self converted to `dtype`, where it is given.
SB_STRUCTURED_NO_INPLACE(
    softmax, "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    "int_out");
SB_STRUCTURED_NO_INPLACE(
    log_softmax, "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    "int_out");
// softmax, but zeros where all of a row are -infinity.
SB_OP(_safe_softmax, "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(special_softmax,
      "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
SB_OP(special_log_softmax,
      "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_SOFTMAX_H_
