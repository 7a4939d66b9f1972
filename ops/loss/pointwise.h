// Losses that compare two tensors element by element, and their derivatives by self. The tensors
// broadcast and promote as in arithmetic; `reduction` is none, mean or sum.

#ifndef SWITCHBOARD_OPS_LOSS_POINTWISE_H_
#define SWITCHBOARD_OPS_LOSS_POINTWISE_H_

#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/loss/loss_schema.h"

namespace sb {

// (self - target)^2. float16, float32 and float64.
SB_OP(mse_loss, "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor");
SB_OP(mse_loss_out, out_of(mse_loss, "out"));
SB_OP(mse_loss_backward,
      "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "int reduction) -> Tensor");
SB_OP(mse_loss_backward_out, out_of(mse_loss_backward, "grad_input", {"grad_input"}));

// d^2 / (2 * beta) where the distance d is less than beta, else d - beta / 2. RuntimeError for a
// negative beta.
SB_OP(smooth_l1_loss,
      "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, "
      "float beta=1.0) -> Tensor");
SB_OP(smooth_l1_loss_out, out_of(smooth_l1_loss, "out"));
SB_OP(smooth_l1_loss_backward,
      "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "int reduction, float beta) -> Tensor");
SB_OP(smooth_l1_loss_backward_out, out_of(smooth_l1_loss_backward, "grad_input", {"grad_input"}));

// d^2 / 2 where the distance d is at most delta, else delta * (d - delta / 2); of self's dtype.
// RuntimeError unless delta is positive.
SB_OP(huber_loss,
      "aten::huber_loss(Tensor self, Tensor target, int reduction=1, "
      "float delta=1.0) -> Tensor");
SB_OP(huber_loss_out, out_of(huber_loss, "out"));
SB_OP(huber_loss_backward,
      "aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "int reduction, float delta) -> Tensor");
SB_OP(huber_loss_backward_out, out_of(huber_loss_backward, "out", {"grad_input"}));

// -weight * (target * log(self) + (1 - target) * log(1 - self)), logarithms being at least -100.
// float32 and float64, one for all; RuntimeError for elements of self outside [0, 1].
SB_OP(binary_cross_entropy,
      "aten::binary_cross_entropy(Tensor self, Tensor target, "
      "Tensor? weight=None, int reduction=1) -> Tensor");
SB_OP(binary_cross_entropy_out, out_of(binary_cross_entropy, "out"));
SB_OP(binary_cross_entropy_backward,
      "aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, "
      "Tensor target, Tensor? weight=None, int reduction=1) -> Tensor");
SB_OP(binary_cross_entropy_backward_out,
      out_of(binary_cross_entropy_backward, "grad_input", {"grad_input"}));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_POINTWISE_H_
