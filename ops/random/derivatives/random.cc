// Derivatives of random draws: zeros by what was drawn over and, as in PyTorch, by the parameters
// of distributions, but for those of gamma.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/random/counts.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/gamma_gradient.h"
#include "switchboard/ops/random/multinomial.h"
#include "switchboard/ops/random/normal_of_tensors.h"
#include "switchboard/ops/random/random_factories.h"

namespace sb {
namespace {

template <class... Tag>
void derive_fills(Library& m, const Op<Tag>&... ops) {
  (derive(m, ops, SB_GRAD(self, (grad), zeros_like(grad))), ...);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_fills(m, uniform, log_normal, exponential, cauchy, geometric, random, random_to,
               random_from, normal_, normal_functional, bernoulli, bernoulli_float_, poisson);
  derive(m, bernoulli_Tensor, SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(p, (grad, p_meta), new_zeros(grad, p_meta.sizes)));
  derive(m, normal_Tensor_float,
         SB_GRAD(mean, (grad, mean_meta), new_zeros(grad, mean_meta.sizes)));
  derive(m, normal_float_Tensor, SB_GRAD(std, (grad, std_meta), new_zeros(grad, std_meta.sizes)));
  derive(m, normal_Tensor_Tensor,
         SB_GRAD(mean, (grad, mean_meta), new_zeros(grad, mean_meta.sizes)),
         SB_GRAD(std, (grad, std_meta), new_zeros(grad, std_meta.sizes)));
  derive(m, _standard_gamma,
         SB_GRAD(self, (grad, self, result), mul(grad, _standard_gamma_grad(self, result))));
  not_differentiable(m, bernoulli_p);
  not_differentiable(m, multinomial);
  not_differentiable(m, rand_like);
  not_differentiable(m, randn_like);
  not_differentiable(m, randint_like);
  not_differentiable(m, randint_like_low);
}

}  // namespace sb
