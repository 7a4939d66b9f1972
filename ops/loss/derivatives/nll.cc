// Derivatives of the negative log likelihood. A loss is linear in self, so that the gradient of a
// gradient is a loss again. The classes' weights have no derivative, as in PyTorch.

#include "switchboard/ops/loss/nll.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/missing_gradients.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

template <auto& loss, auto& forward, auto& backward>
void derive_nll(Library& m) {
  derive(m, forward,
         SB_GRAD(self, (grad, self, target, weight, reduction, ignore_index, total_weight),
                 backward(grad, self, target, weight, reduction, ignore_index, total_weight)),
         SB_GRAD(weight, (grad), internal::no_derivative("nll_loss", "weight")));
  derive(
      m, backward,
      SB_GRAD(grad_output, (grad, target, weight, reduction, ignore_index),
              loss(grad, target, weight, reduction, ignore_index)),
      SB_GRAD(self, (grad), zeros_like(grad)),
      SB_GRAD(weight, (grad), internal::no_derivative("nll_loss_backward", "weight")),
      SB_GRAD(total_weight, (grad), internal::no_derivative("nll_loss_backward", "total_weight")));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_nll<nll_loss, nll_loss_forward, nll_loss_backward>(m);
  derive_nll<nll_loss2d, nll_loss2d_forward, nll_loss2d_backward>(m);
}

}  // namespace sb
