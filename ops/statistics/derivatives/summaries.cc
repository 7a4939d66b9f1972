#include "switchboard/ops/statistics/summaries.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/statistics/derivatives/reduced_dims.h"

namespace sb {
namespace {

// NaN did not count.
Tensor nansum_gradient(const Tensor& grad, const Tensor& self, IntArrayRef dims, bool keepdim) {
  return mul(with_reduced_dims(grad, dims, self.dim(), keepdim), bitwise_not(isnan(self)));
}

// Of the smallest or the largest: those that equal it share the gradient evenly.
Tensor extreme_gradient(const Tensor& grad, const Tensor& self, const Tensor& result,
                        IntArrayRef dims, bool keepdim) {
  const auto broad = [&](const Tensor& t) {
    return with_reduced_dims(t, dims, self.dim(), keepdim);
  };
  const Tensor chosen = eq(self, broad(result));
  const Tensor count = sum_dim(chosen, dims, /*keepdim=*/true);
  return mul(div(broad(grad), count), chosen);
}
Tensor extremes_gradient(const Tensor& grad0, const Tensor& grad1, const Tensor& self,
                         const Tensor& min, const Tensor& max, std::optional<int64_t> dim,
                         bool keepdim) {
  const IntArrayRef dims = dim ? IntArrayRef(&*dim, 1) : IntArrayRef();
  // The dimension that a number gets is no dimension of self.
  const bool kept = keepdim && dim;
  const auto part = [&](const Tensor& grad, const Tensor& result) {
    return grad.defined() ? extreme_gradient(grad, self, result, dims, kept) : Tensor();
  };
  const Tensor of_min = part(grad0, min), of_max = part(grad1, max);
  if (!of_min.defined()) return of_max;
  return of_max.defined() ? add(of_min, of_max) : of_min;
}

Tensor logsumexp_gradient(const Tensor& grad, const Tensor& self, const Tensor& result,
                          IntArrayRef dims, bool keepdim) {
  const auto broad = [&](const Tensor& t) {
    return with_reduced_dims(t, dims, self.dim(), keepdim);
  };
  return mul(broad(grad), conj(exp(sub(self, broad(result)))));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, nansum,
         SB_GRAD(self, (grad, self, dim, keepdim),
                 nansum_gradient(grad, self, reduced_dims(dim), keepdim)));
  derive(m, aminmax,
         SB_GRAD(self, (grad0, grad1, self, min, max, dim, keepdim),
                 extremes_gradient(grad0, grad1, self, min, max, dim, keepdim)));
  derive(m, logsumexp,
         SB_GRAD(self, (grad, self, result, dim, keepdim),
                 logsumexp_gradient(grad, self, result, dim, keepdim)));
  not_differentiable(m, count_nonzero);
  not_differentiable(m, count_nonzero_dims);
}

}  // namespace
}  // namespace sb
