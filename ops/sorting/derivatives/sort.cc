// Derivatives of sorts and selections: elements stay what they are, and gradients find them by the
// indices. What looks elements up gives integers, and has none.

#include "switchboard/ops/sorting/sort.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/sorting/counts.h"
#include "switchboard/ops/sorting/derivatives/selected_gradient.h"
#include "switchboard/ops/sorting/search.h"
#include "switchboard/ops/sorting/select.h"

namespace sb {
namespace {

// Of one element of all: those that equal it share the gradient evenly.
Tensor shared_gradient(const Tensor& grad, const Tensor& self, const Tensor& value) {
  const Tensor both_nan = bitwise_and(isnan(self), isnan(value));
  const Tensor equal = bitwise_or(eq(self, value), both_nan);
  return where_ScalarOther(equal, div(grad, sum(equal)), 0);  // 0 though the gradient be infinite
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, sort,
         SB_GRAD(self, (grad, self_meta, dim, indices),
                 selected_gradient(grad, dim, indices, self_meta.sizes, true)));
  derive(m, sort_stable,
         SB_GRAD(self, (grad, self_meta, dim, indices),
                 selected_gradient(grad, dim, indices, self_meta.sizes, true)));
  derive(m, topk,
         SB_GRAD(self, (grad, self_meta, dim, indices),
                 selected_gradient(grad, dim, indices, self_meta.sizes, true)));

  derive(m, kthvalue,
         SB_GRAD(self, (grad, self_meta, dim, indices, keepdim),
                 selected_gradient(grad, dim, indices, self_meta.sizes, keepdim)));
  derive(m, median_dim,
         SB_GRAD(self, (grad, self_meta, dim, indices, keepdim),
                 selected_gradient(grad, dim, indices, self_meta.sizes, keepdim)));
  derive(m, nanmedian_dim,
         SB_GRAD(self, (grad, self_meta, dim, indices, keepdim),
                 selected_gradient(grad, dim, indices, self_meta.sizes, keepdim)));
  derive(m, mode,
         SB_GRAD(self, (grad, self_meta, dim, indices, keepdim),
                 selected_gradient(grad, dim, indices, self_meta.sizes, keepdim)));
  derive(m, median, SB_GRAD(self, (grad, self, result), shared_gradient(grad, self, result)));
  derive(m, nanmedian, SB_GRAD(self, (grad, self, result), shared_gradient(grad, self, result)));

  not_differentiable(m, argsort_stable);
  not_differentiable(m, bincount);
  not_differentiable(m, searchsorted);
  not_differentiable(m, searchsorted_Scalar);
  not_differentiable(m, bucketize);
  not_differentiable(m, bucketize_Scalar);
  not_differentiable(m, isin);
  not_differentiable(m, isin_Tensor_Scalar);
  not_differentiable(m, isin_Scalar_Tensor);
}

}  // namespace
}  // namespace sb
