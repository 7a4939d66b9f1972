// Activation functions of neural networks, as those of `torch.nn.functional`. Floating-point
// tensors only, where nothing else is said; relu and sigmoid are in ops/arithmetic/unary.h,
// hardtanh and relu6 in clamp.h. `out` has self's dtype (RuntimeError).

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// x * Phi(x), with the distribution function of the normal distribution: exactly ("none"), or by
// its approximation with "tanh".
SB_OP(gelu, "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor");
SB_OP(gelu_, inplace_of(gelu));
SB_OP(gelu_out, out_of(gelu, "out"));
// x * sigmoid(x). Complex tensors too.
SB_OP(silu, "aten::silu(Tensor self) -> Tensor");
SB_OP(silu_, inplace_of(silu));
SB_OP(silu_out, out_of(silu, "out"));
// x * tanh(softplus(x)).
SB_OP(mish, "aten::mish(Tensor self) -> Tensor");
SB_OP(mish_, inplace_of(mish));
SB_OP(mish_out, out_of(mish, "out"));
// log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold.
SB_OP(softplus, "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor");
SB_OP(softplus_out, out_of(softplus, "out"));
// scale * x above 0, else scale * alpha * (exp(input_scale * x) - 1).
SB_OP(elu,
      "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor");
SB_OP(elu_, inplace_of(elu));
SB_OP(elu_out, out_of(elu, "out"));
// elu with the constants of self-normalising networks.
SB_OP(selu, "aten::selu(Tensor self) -> Tensor");
SB_OP(selu_, "aten::selu_(Tensor(a!) self) -> Tensor(a!)");
// elu whose slope is continuous. RuntimeError "ZeroDivisionError" for alpha 0.
SB_OP(celu, "aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor");
SB_OP(celu_, inplace_of(celu));
SB_OP(celu_out, out_of(celu, "out"));
// min(max(x + 3, 0), 6) / 6, and x times that.
SB_OP(hardsigmoid, "aten::hardsigmoid(Tensor self) -> Tensor");
SB_OP(hardsigmoid_, inplace_of(hardsigmoid));
SB_OP(hardsigmoid_out, out_of(hardsigmoid, "out"));
SB_OP(hardswish, "aten::hardswish(Tensor self) -> Tensor");
SB_OP(hardswish_, inplace_of(hardswish));
SB_OP(hardswish_out, out_of(hardswish, "out"));
SB_OP(leaky_relu, "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor");
SB_OP(leaky_relu_, inplace_of(leaky_relu));
SB_OP(leaky_relu_out, out_of(leaky_relu, "out"));
// 0 from -lambd to lambd, else x; and x nearer to 0 by lambd, which is not negative (RuntimeError).
SB_OP(hardshrink, "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor");
SB_OP(hardshrink_out, out_of(hardshrink, "out"));
SB_OP(softshrink, "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor");
SB_OP(softshrink_out, out_of(softshrink, "out"));
// x above the threshold, else value. Integral tensors too; `out` has any dtype that self's can be
// cast to.
SB_OP(threshold, "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor");
SB_OP(threshold_, inplace_of(threshold));
SB_OP(threshold_out, out_of(threshold, "out"));

// log(sigmoid(x)). The buffer is what log_sigmoid_backward needs.
SB_OP(log_sigmoid, "aten::log_sigmoid(Tensor self) -> Tensor");
SB_OP(log_sigmoid_out, out_of(log_sigmoid, "out"));
SB_OP(log_sigmoid_forward,
      "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)");
SB_OP(log_sigmoid_forward_out, out_of(log_sigmoid_forward, "output", {"output", "buffer"}));

// The first half of self along dim times the sigmoid of the other.
SB_OP(glu, "aten::glu(Tensor self, int dim=-1) -> Tensor");
SB_OP(glu_out, out_of(glu, "out"));
// x above 0, else weight * x, where weight is a number or has one for each channel (dimension 1).
SB_OP(prelu, "aten::prelu(Tensor self, Tensor weight) -> Tensor");
SB_OP(prelu_out, out_of(prelu, "out"));
// The same of a weight that broadcasts to self.
SB_OP(_prelu_kernel, "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_
