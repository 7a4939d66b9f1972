// The gradients of activation functions and of other functions, for autograd: what a call's result
// adds to the gradient of its input. The tensors are promoted to a common dtype.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_

#include "switchboard/ops/define/named_out.h"

namespace sb {

SB_GRADIENT(sigmoid_backward,
            "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor");
SB_GRADIENT(tanh_backward, "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor");
SB_GRADIENT(logit_backward,
            "aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor");
SB_GRADIENT(gelu_backward,
            "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> "
            "Tensor");
SB_GRADIENT(silu_backward, "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(mish_backward, "aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_GRADIENT(softplus_backward,
            "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar "
            "threshold) -> Tensor");
// self_or_result is the result where is_result, and then alpha is not negative (RuntimeError).
SB_GRADIENT(elu_backward,
            "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar "
            "input_scale, bool is_result, Tensor self_or_result) -> Tensor");
SB_GRADIENT(hardsigmoid_backward,
            "aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_STRUCTURED_NO_INPLACE(hardswish_backward,
                         "aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
                         "out");
SB_GRADIENT(hardtanh_backward,
            "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar "
            "max_val) -> Tensor");
// self is the result where self_is_result, and then negative_slope is not negative (RuntimeError).
SB_GRADIENT(leaky_relu_backward,
            "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
            "bool self_is_result) -> Tensor");
SB_GRADIENT(hardshrink_backward,
            "aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor");
SB_GRADIENT(softshrink_backward,
            "aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor");
SB_GRADIENT(threshold_backward,
            "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> "
            "Tensor");
// All of one dtype (RuntimeError).
SB_GRADIENT(log_sigmoid_backward,
            "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> "
            "Tensor");
SB_GRADIENT(glu_backward, "aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor");
// The gradients of self and of weight.
SB_OP(prelu_backward,
      "aten::prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATION_GRADIENTS_H_
