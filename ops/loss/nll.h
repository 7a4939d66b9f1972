// The negative log likelihood of classes, and cross entropy, which takes log_softmax first.

#ifndef SWITCHBOARD_OPS_LOSS_NLL_H_
#define SWITCHBOARD_OPS_LOSS_NLL_H_

#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/loss/loss_schema.h"

namespace sb {

// -weight[target] * self[target], for self of shape [classes] or [batch, classes] and int64 (or
// uint8) targets of shape [] or [batch]. Targets that are ignore_index count as 0; total_weight is
// the sum of the others' weights, or 0 where nothing is reduced, and divides the mean. float32,
// float64 and bfloat16. RuntimeError for shapes and dtypes that do not fit, IndexError for a target
// that is no class.
SB_OP(nll_loss_forward,
      "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
      "SymInt ignore_index) -> (Tensor output, Tensor total_weight)");
SB_OP(nll_loss_forward_out,
      out_form(nll_loss_forward,
               "aten::nll_loss_forward.output(Tensor self, Tensor target, Tensor? weight, "
               "int reduction, SymInt ignore_index, *, Tensor(a!) output, Tensor(b!) total_weight) "
               "-> (Tensor(a!), Tensor(b!))"));
SB_OP(nll_loss_backward,
      "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor");
SB_OP(nll_loss_backward_out, out_of(nll_loss_backward, "grad_input", {"grad_input"}));
// The same for self of shape [batch, classes, height, width].
SB_OP(nll_loss2d_forward,
      "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, "
      "int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)");
SB_OP(nll_loss2d_forward_out,
      out_form(nll_loss2d_forward,
               "aten::nll_loss2d_forward.output(Tensor self, Tensor target, Tensor? weight, "
               "int reduction, SymInt ignore_index, *, Tensor(a!) output, Tensor(b!) total_weight) "
               "-> (Tensor(a!), Tensor(b!))"));
SB_OP(nll_loss2d_backward,
      "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, "
      "Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor");
SB_OP(nll_loss2d_backward_out, out_of(nll_loss2d_backward, "grad_input", {"grad_input"}));

// The loss without total_weight. nll_loss_nd takes any dimensions behind the classes; ValueError
// where the batch sizes differ.
SB_OP(nll_loss,
      "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, "
      "int reduction=1, SymInt ignore_index=-100) -> Tensor");
SB_OP(nll_loss_out, out_of(nll_loss, "out"));
SB_OP(nll_loss2d,
      "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, "
      "int reduction=1, SymInt ignore_index=-100) -> Tensor");
SB_OP(nll_loss2d_out, out_of(nll_loss2d, "out"));
SB_OP(nll_loss_nd,
      "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
      "SymInt ignore_index=-100) -> Tensor");
// Of log_softmax(self). The target holds classes, or probabilities of classes in self's shape;
// label_smoothing mixes it with the uniform distribution.
SB_OP(cross_entropy_loss,
      "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
      "SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_NLL_H_
