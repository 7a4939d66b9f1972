// Derivatives of losses with margins. Their gradients have none, as in PyTorch.

#include "switchboard/ops/loss/margin.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/missing_gradients.h"

namespace sb {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, multi_margin_loss,
         SB_GRAD(self, (grad, self, target, p, margin, weight, reduction),
                 multi_margin_loss_backward(grad, self, target, p, margin, weight, reduction)),
         SB_GRAD(weight, (grad), internal::no_derivative("multi_margin_loss", "weight")));
  derive(m, multilabel_margin_loss_forward,
         SB_GRAD(self, (grad, self, target, reduction, is_target),
                 multilabel_margin_loss_backward(grad, self, target, reduction, is_target)));
}

}  // namespace sb
