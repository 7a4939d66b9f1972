// The derivatives of rrelu.h.

#include "switchboard/ops/loss/rrelu.h"

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, rrelu_with_noise,
         SB_GRAD(self, (grad, self, noise, lower, upper, training),
                 rrelu_with_noise_backward(grad, self, noise, lower, upper, training, false)));
  derive(m, rrelu_with_noise_,
         SB_GRAD(self, (grad, noise, lower, upper, training, result),
                 rrelu_with_noise_backward(grad, result, noise, lower, upper, training, true)));
}

}  // namespace
}  // namespace sb
