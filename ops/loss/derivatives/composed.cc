// Derivatives of losses whose kernels overwrite what they compose them of.

#include "switchboard/ops/loss/composed.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/loss/derivatives/loss_gradients.h"

namespace sb {
namespace {

using internal::spread;
using internal::times_weight;
using OptionalTensor = std::optional<Tensor>;

// binary_cross_entropy_with_logits is the mean or the sum of
//
//   weight * ((1 - target) * self + (1 + (pos_weight - 1) * target) * log(1 + exp(-self)))
//
// which has target's shape.

Tensor logits_by_self(const Tensor& grad, const Tensor& self, const Tensor& target,
                      const OptionalTensor& weight, const OptionalTensor& pos_weight,
                      int64_t reduction) {
  Tensor slope;
  if (is_given(pos_weight)) {
    const Tensor positive = mul(target, *pos_weight);
    slope = sub(mul(add(rsub_Scalar(target, 1), positive), sigmoid(self)), positive);
  } else {
    slope = sub(sigmoid(self), target);
  }
  return spread(times_weight(mul(slope, grad), weight), target.sym_numel(), reduction);
}
Tensor logits_by_target(const Tensor& grad, const Tensor& self, const OptionalTensor& weight,
                        const OptionalTensor& pos_weight, const SymInt& count, int64_t reduction) {
  const Tensor slope = is_given(pos_weight)
                           ? sub(log_sigmoid(neg(self)), mul(log_sigmoid(self), *pos_weight))
                           : neg(self);
  return spread(times_weight(mul(slope, grad), weight), count, reduction);
}
Tensor logits_by_weight(const Tensor& grad, const Tensor& self, const Tensor& target,
                        const OptionalTensor& pos_weight, int64_t reduction) {
  const Tensor loss =
      binary_cross_entropy_with_logits(self, target, std::nullopt, pos_weight, kReduceNone);
  return spread(mul(loss, grad), target.sym_numel(), reduction);
}
Tensor logits_by_pos_weight(const Tensor& grad, const Tensor& self, const Tensor& target,
                            const OptionalTensor& weight, int64_t reduction) {
  const Tensor slope = neg(mul(target, log_sigmoid(self)));
  return spread(times_weight(mul(slope, grad), weight), target.sym_numel(), reduction);
}

// soft_margin_loss is the mean or the sum of log(1 + exp(-target * self)), in which the two may
// change places: `first` is the one whose gradient it is. The loss has self's shape.
Tensor soft_margin_by(const Tensor& grad, const Tensor& first, const Tensor& second,
                      const SymInt& count, int64_t reduction) {
  return soft_margin_loss_backward(spread(grad, count, reduction), first, second, kReduceSum);
}

// Of soft_margin_loss_backward, -grad_output * target * sigmoid(-target * self): by grad_output...
Tensor soft_margin_slope(const Tensor& grad, const Tensor& self, const Tensor& target,
                         int64_t reduction) {
  const Tensor slope = neg(mul(target, sigmoid(neg(mul(target, self)))));
  return spread(mul(grad, slope), self.sym_numel(), reduction);
}
// ... by self, and by target.
Tensor soft_margin_second(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                          const Tensor& target, int64_t reduction) {
  const Tensor share = sigmoid(mul(target, self));
  const Tensor slope = mul(mul(target, target), mul(share, rsub_Scalar(share, 1)));
  return spread(mul(mul(grad, grad_output), slope), self.sym_numel(), reduction);
}
Tensor soft_margin_second_by_target(const Tensor& grad, const Tensor& grad_output,
                                    const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor product = mul(target, self);
  const Tensor share = sigmoid(neg(product));
  const Tensor slope = sub(mul(mul(product, share), rsub_Scalar(share, 1)), share);
  return spread(mul(mul(grad, grad_output), slope), self.sym_numel(), reduction);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, binary_cross_entropy_with_logits,
         SB_GRAD(self, (grad, self, target, weight, pos_weight, reduction),
                 logits_by_self(grad, self, target, weight, pos_weight, reduction)),
         SB_GRAD(target, (grad, self, target, weight, pos_weight, reduction),
                 logits_by_target(grad, self, weight, pos_weight, target.sym_numel(), reduction)),
         SB_GRAD(weight, (grad, self, target, pos_weight, reduction),
                 logits_by_weight(grad, self, target, pos_weight, reduction)),
         SB_GRAD(pos_weight, (grad, self, target, weight, reduction),
                 logits_by_pos_weight(grad, self, target, weight, reduction)));

  derive(m, soft_margin_loss,
         SB_GRAD(self, (grad, self, target, reduction),
                 soft_margin_by(grad, self, target, self.sym_numel(), reduction)),
         SB_GRAD(target, (grad, self, target, reduction),
                 soft_margin_by(grad, target, self, self.sym_numel(), reduction)));
  derive(m, soft_margin_loss_backward,
         SB_GRAD(grad_output, (grad, self, target, reduction),
                 soft_margin_slope(grad, self, target, reduction)),
         SB_GRAD(self, (grad, grad_output, self, target, reduction),
                 soft_margin_second(grad, grad_output, self, target, reduction)),
         SB_GRAD(target, (grad, grad_output, self, target, reduction),
                 soft_margin_second_by_target(grad, grad_output, self, target, reduction)));
}

}  // namespace sb
