// The gradients of activation functions and of other functions, for autograd: what a call's result
// adds to the gradient of its input. The tensors are promoted to a common dtype.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(sigmoid_backward, "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor");
SB_OP(sigmoid_backward_out, out_of(sigmoid_backward, "grad_input", {"grad_input"}));
SB_OP(tanh_backward, "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor");
SB_OP(tanh_backward_out, out_of(tanh_backward, "grad_input", {"grad_input"}));
SB_OP(logit_backward,
      "aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor");
SB_OP(logit_backward_out, out_of(logit_backward, "grad_input", {"grad_input"}));
SB_OP(gelu_backward,
      "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> "
      "Tensor");
SB_OP(gelu_backward_out, out_of(gelu_backward, "grad_input", {"grad_input"}));
SB_OP(silu_backward, "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(silu_backward_out, out_of(silu_backward, "grad_input", {"grad_input"}));
SB_OP(mish_backward, "aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(softplus_backward,
      "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar "
      "threshold) -> Tensor");
SB_OP(softplus_backward_out, out_of(softplus_backward, "grad_input", {"grad_input"}));
// self_or_result is the result where is_result, and then alpha is not negative (RuntimeError).
SB_OP(elu_backward,
      "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar "
      "input_scale, bool is_result, Tensor self_or_result) -> Tensor");
SB_OP(elu_backward_out, out_of(elu_backward, "grad_input", {"grad_input"}));
SB_OP(hardsigmoid_backward,
      "aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(hardsigmoid_backward_out, out_of(hardsigmoid_backward, "grad_input", {"grad_input"}));
SB_OP(hardswish_backward, "aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(hardswish_backward_out, out_of(hardswish_backward, "out"));
SB_OP(hardtanh_backward,
      "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar "
      "max_val) -> Tensor");
SB_OP(hardtanh_backward_out, out_of(hardtanh_backward, "grad_input", {"grad_input"}));
// self is the result where self_is_result, and then negative_slope is not negative (RuntimeError).
SB_OP(leaky_relu_backward,
      "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
      "bool self_is_result) -> Tensor");
SB_OP(leaky_relu_backward_out, out_of(leaky_relu_backward, "grad_input", {"grad_input"}));
SB_OP(hardshrink_backward,
      "aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor");
SB_OP(hardshrink_backward_out, out_of(hardshrink_backward, "grad_input", {"grad_input"}));
SB_OP(softshrink_backward,
      "aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor");
SB_OP(softshrink_backward_out, out_of(softshrink_backward, "grad_input", {"grad_input"}));
SB_OP(threshold_backward,
      "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> "
      "Tensor");
SB_OP(threshold_backward_out, out_of(threshold_backward, "grad_input", {"grad_input"}));
// All of one dtype (RuntimeError).
SB_OP(log_sigmoid_backward,
      "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> "
      "Tensor");
SB_OP(log_sigmoid_backward_out, out_of(log_sigmoid_backward, "grad_input", {"grad_input"}));
SB_OP(glu_backward, "aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor");
SB_OP(glu_backward_out, out_of(glu_backward, "grad_input", {"grad_input"}));
// The gradients of self and of weight, the second in self's shape.
SB_OP(_prelu_kernel_backward,
      "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, "
      "Tensor)");
// The gradients of self and of weight.
SB_OP(prelu_backward,
      "aten::prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_
