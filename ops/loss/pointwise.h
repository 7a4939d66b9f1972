// Losses that compare two tensors element by element, and their derivatives by self. The tensors
// broadcast and promote as in arithmetic; `reduction` is none, mean or sum.

#ifndef SWITCHBOARD_OPS_LOSS_POINTWISE_H_
#define SWITCHBOARD_OPS_LOSS_POINTWISE_H_

#include "switchboard/ops/loss/loss_schema.h"

namespace sb {

// (self - target)^2. float16, float32 and float64.
SB_STRUCTURED_NO_INPLACE(mse_loss,
                         "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
                         "out");
SB_OP_WITH_OUT(mse_loss_backward,
               "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
               "int reduction) -> Tensor",
               "aten::mse_loss_backward.grad_input(Tensor grad_output, Tensor self, "
               "Tensor target, int reduction, *, Tensor(a!) grad_input) -> Tensor(a!)");

// d^2 / (2 * beta) where the distance d is less than beta, else d - beta / 2. RuntimeError for a
// negative beta.
SB_STRUCTURED_NO_INPLACE(smooth_l1_loss,
                         "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, "
                         "float beta=1.0) -> Tensor",
                         "out");
SB_OP_WITH_OUT(smooth_l1_loss_backward,
               "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
               "int reduction, float beta) -> Tensor",
               "aten::smooth_l1_loss_backward.grad_input(Tensor grad_output, Tensor self, "
               "Tensor target, int reduction, float beta, *, Tensor(a!) grad_input) -> "
               "Tensor(a!)");

// d^2 / 2 where the distance d is at most delta, else delta * (d - delta / 2); of self's dtype.
// RuntimeError unless delta is positive.
SB_STRUCTURED_NO_INPLACE(huber_loss,
                         "aten::huber_loss(Tensor self, Tensor target, int reduction=1, "
                         "float delta=1.0) -> Tensor",
                         "out");
SB_OP_WITH_OUT(huber_loss_backward,
               "aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
               "int reduction, float delta) -> Tensor",
               "aten::huber_loss_backward.out(Tensor grad_output, Tensor self, Tensor target, "
               "int reduction, float delta, *, Tensor(a!) grad_input) -> Tensor(a!)");

// -weight * (target * log(self) + (1 - target) * log(1 - self)), logarithms being at least -100.
// float32 and float64, one for all; RuntimeError for elements of self outside [0, 1].
SB_STRUCTURED_NO_INPLACE(binary_cross_entropy,
                         "aten::binary_cross_entropy(Tensor self, Tensor target, "
                         "Tensor? weight=None, int reduction=1) -> Tensor",
                         "out");
SB_OP_WITH_OUT(binary_cross_entropy_backward,
               "aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, "
               "Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
               "aten::binary_cross_entropy_backward.grad_input(Tensor grad_output, Tensor self, "
               "Tensor target, Tensor? weight=None, int reduction=1, *, Tensor(a!) grad_input) -> "
               "Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_POINTWISE_H_
