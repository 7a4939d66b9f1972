// Losses that want the scores of the right classes above the others' by a margin. self is [classes]
// or [batch, classes], of float32 or float64.

#ifndef SWITCHBOARD_OPS_LOSS_MARGIN_H_
#define SWITCHBOARD_OPS_LOSS_MARGIN_H_

#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/loss/loss_schema.h"

namespace sb {

// The sum over the other classes of max(0, margin - self[target] + self[class])^p, p being 1 or 2,
// times weight[target], divided by the number of classes. int64 targets of shape [] or [batch].
SB_OP(multi_margin_loss,
      "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, "
      "Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor");
SB_OP(multi_margin_loss_out, out_of(multi_margin_loss, "out"));
SB_OP(multi_margin_loss_backward,
      "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "Scalar p, Scalar margin, Tensor? weight=None, int reduction=1) -> Tensor");
SB_OP(multi_margin_loss_backward_out,
      out_of(multi_margin_loss_backward, "grad_input", {"grad_input"}));

// The sum over right classes r and others o of max(0, 1 - self[r] + self[o]), divided by the number
// of classes. The right classes stand in target's row up to the first -1; is_target marks them.
SB_OP(multilabel_margin_loss_forward,
      "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> "
      "(Tensor output, Tensor is_target)");
SB_OP(multilabel_margin_loss_forward_out,
      out_form(multilabel_margin_loss_forward,
               "aten::multilabel_margin_loss_forward.output(Tensor self, Tensor target, "
               "int reduction, *, Tensor(a!) output, Tensor(b!) is_target) -> "
               "(Tensor(a!), Tensor(b!))"));
SB_OP(multilabel_margin_loss_backward,
      "aten::multilabel_margin_loss_backward(Tensor grad_output, Tensor self, "
      "Tensor target, int reduction, Tensor is_target) -> Tensor");
SB_OP(multilabel_margin_loss_backward_out,
      out_of(multilabel_margin_loss_backward, "grad_input", {"grad_input"}));
SB_OP(multilabel_margin_loss,
      "aten::multilabel_margin_loss(Tensor self, Tensor target, "
      "int reduction=1) -> Tensor");
SB_OP(multilabel_margin_loss_out, out_of(multilabel_margin_loss, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_MARGIN_H_
