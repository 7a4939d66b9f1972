// Activation functions of neural networks, as those of `torch.nn.functional`. Floating-point
// tensors only, where nothing else is said; relu and sigmoid are in ops/arithmetic/unary.h,
// hardtanh and relu6 in clamp.h. `out` has self's dtype (RuntimeError).

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// x * Phi(x), with the distribution function of the normal distribution: exactly ("none"), or by
// its approximation with "tanh".
SB_STRUCTURED(gelu, "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", "out");
// x * sigmoid(x). Complex tensors too.
SB_STRUCTURED(silu, "aten::silu(Tensor self) -> Tensor", "out");
// x * tanh(softplus(x)).
SB_STRUCTURED(mish, "aten::mish(Tensor self) -> Tensor", "out");
// log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold.
SB_STRUCTURED_NO_INPLACE(
    softplus, "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", "out");
// scale * x above 0, else scale * alpha * (exp(input_scale * x) - 1).
SB_STRUCTURED(
    elu, "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    "out");
// elu with the constants of self-normalising networks.
SB_OP(selu, "aten::selu(Tensor self) -> Tensor");
SB_OP(selu_, "aten::selu_(Tensor(a!) self) -> Tensor(a!)");
// elu whose slope is continuous. RuntimeError "ZeroDivisionError" for alpha 0.
SB_STRUCTURED(celu, "aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor", "out");
// min(max(x + 3, 0), 6) / 6, and x times that.
SB_STRUCTURED(hardsigmoid, "aten::hardsigmoid(Tensor self) -> Tensor", "out");
SB_STRUCTURED(hardswish, "aten::hardswish(Tensor self) -> Tensor", "out");
SB_STRUCTURED(leaky_relu, "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
              "out");
// 0 from -lambd to lambd, else x; and x nearer to 0 by lambd, which is not negative (RuntimeError).
SB_STRUCTURED_NO_INPLACE(hardshrink, "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(softshrink, "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
                         "out");
// x above the threshold, else value. Integral tensors too; `out` has any dtype that self's can be
// cast to.
SB_STRUCTURED(threshold, "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
              "out");

// log(sigmoid(x)). The buffer is what log_sigmoid_backward needs.
SB_STRUCTURED_NO_INPLACE(log_sigmoid, "aten::log_sigmoid(Tensor self) -> Tensor", "out");
SB_STRUCTURED_MULTI(log_sigmoid_forward,
                    "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
                    "output", "output", "buffer");

// The first half of self along dim times the sigmoid of the other.
SB_STRUCTURED_NO_INPLACE(glu, "aten::glu(Tensor self, int dim=-1) -> Tensor", "out");
// x above 0, else weight * x, where weight is a number or has one for each channel (dimension 1).
SB_STRUCTURED_NO_INPLACE(prelu, "aten::prelu(Tensor self, Tensor weight) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ACTIVATIONS_H_
