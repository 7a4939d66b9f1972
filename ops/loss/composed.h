// Losses, similarities and distances that are composed of other operators.

#ifndef SWITCHBOARD_OPS_LOSS_COMPOSED_H_
#define SWITCHBOARD_OPS_LOSS_COMPOSED_H_

#include "switchboard/ops/define/forms.h"
#include "switchboard/ops/loss/loss_schema.h"

namespace sb {

// |self - target|.
SB_OP(l1_loss, "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor");
// target * (log(target) - self), target being probabilities, or their logarithms. Floating-point.
SB_OP(kl_div,
      "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> "
      "Tensor");
// binary_cross_entropy of sigmoid(self), without its overflow; pos_weight counts target's ones.
SB_OP(binary_cross_entropy_with_logits,
      "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, "
      "Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> "
      "Tensor");
SB_OP(binary_cross_entropy_with_logits_out, out_of(binary_cross_entropy_with_logits, "out"));
// log(1 + exp(-target * self)).
SB_OP(soft_margin_loss,
      "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> "
      "Tensor");
SB_OP(soft_margin_loss_out, out_of(soft_margin_loss, "out"));
SB_OP(soft_margin_loss_backward,
      "aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
      "int reduction) -> Tensor");
SB_OP(soft_margin_loss_backward_out,
      out_of(soft_margin_loss_backward, "grad_input", {"grad_input"}));
// max(0, margin - target * (input1 - input2)), target being 1 or -1.
SB_OP(margin_ranking_loss,
      "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, "
      "int reduction=1) -> Tensor");
// self where target is 1, max(0, margin - self) where it is -1.
SB_OP(hinge_embedding_loss,
      "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, "
      "int reduction=1) -> Tensor");
// 1 - cos where target is 1, max(0, cos - margin) where it is -1, of the angle between rows.
SB_OP(cosine_embedding_loss,
      "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, "
      "float margin=0.0, int reduction=1) -> Tensor");
// max(0, margin + the distance to positive - that to negative).
SB_OP(triplet_margin_loss,
      "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, "
      "float margin=1.0, float p=2, float eps=1e-06, bool swap=False, int reduction=1) -> Tensor");
// input being the rate, or its logarithm; `full` adds Stirling's formula.
SB_OP(poisson_nll_loss,
      "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
      "int reduction) -> Tensor");

// The cosine of the angle between rows along `dim`, and the p-norm of differences along the last.
SB_OP(cosine_similarity,
      "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor");
SB_OP(pairwise_distance,
      "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, "
      "bool keepdim=False) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_COMPOSED_H_
