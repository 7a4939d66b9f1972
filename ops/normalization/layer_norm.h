// Normalisation over the last dimensions.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_LAYER_NORM_H_
#define SWITCHBOARD_OPS_NORMALIZATION_LAYER_NORM_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The normalised input, contiguous, and the mean and 1 / deviation of each part, in shapes whose
// last dimensions are 1. Weight and bias have normalized_shape and the input's dtype, a
// floating-point one. Throws RuntimeError.
SB_OP(native_layer_norm,
      "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? "
      "bias, float eps) -> (Tensor, Tensor, Tensor)");
// The gradients of input, weight and bias, undefined where output_mask does not ask for them.
SB_OP(native_layer_norm_backward,
      "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
      "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, "
      "Tensor, Tensor)");
// As `torch.layer_norm`.
SB_OP(layer_norm,
      "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
      "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor");
// The input by the root of the mean of its squares over the last dimensions, times the weight.
// `eps` is by default the epsilon of the dtype that is computed in. As `torch.rms_norm`.
SB_OP(rms_norm,
      "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? "
      "eps=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_LAYER_NORM_H_
