// Derivatives of reductions. A gradient goes back to the elements that its number was made of.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using internal::conjugate;

// `t`, a result or its gradient, with the dimensions that a reduction of a tensor of that rank took
// away: it broadcasts with the tensor then.
Tensor with_reduced_dims(Tensor t, IntArrayRef dims, bool keepdim, int64_t rank) {
  if (keepdim || dims.empty()) return t;  // a number, if no dims were named
  const DimSet reduced = dim_set("sum", dims, rank);
  for (int64_t d = 0; d < rank; ++d)
    if (reduced[static_cast<size_t>(d)]) t = unsqueeze(t, d);
  return t;
}
IntArrayRef dims_or_all(const OptionalIntArrayRef& dims) { return dims ? *dims : IntArrayRef(); }

Tensor sum_gradient(const Tensor& grad, const InputMetadata& self, IntArrayRef dims, bool keepdim) {
  return expand(with_reduced_dims(grad, dims, keepdim, self.dim()), self.sizes);
}

// grad, divided by how many elements made each number.
Tensor shared(const Tensor& grad, const InputMetadata& self, IntArrayRef dims) {
  const DimSet reduced = dim_set("mean", dims, self.dim());
  SymInt count = 1;
  for (size_t d = 0; d < self.sizes.size(); ++d)
    if (dims.empty() || reduced[d]) count *= self.sizes[d];
  return div_Scalar(grad, count);
}

// Of the product along `dim`, which grad has with size 1: the product of the elements before each
// times that of those after, which is right where some are 0 too.
Tensor product_gradient(const Tensor& grad, const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return grad;
  const SymInt last = self.sym_size(dim) - 1;
  if (guard_size_oblivious(last < 0)) return expand(grad, self.sym_sizes());
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  sizes[static_cast<size_t>(wrap_dim("prod", dim, self.dim()))] = 1;
  const Tensor one = ones(sizes, TensorOptions(self.dtype(), self.device()));
  const Tensor first[] = {one, narrow(self, dim, 0, last)};
  const Tensor before = cumprod(cat(first, dim), dim);
  const Tensor rest[] = {one, flip(narrow(self, dim, 1, last), {dim})};
  const Tensor after = flip(cumprod(cat(rest, dim), dim), {dim});
  return mul(grad, conjugate(mul(before, after)));
}
Tensor prod_all_gradient(const Tensor& grad, const Tensor& self) {
  const Tensor flat = reshape(to_dtype(self, grad.dtype()), {-1});
  return reshape(product_gradient(grad, flat, 0), self.sym_sizes());
}
Tensor prod_dim_gradient(const Tensor& grad, const Tensor& self, int64_t dim, bool keepdim) {
  const Tensor kept = with_reduced_dims(grad, {dim}, keepdim || self.dim() == 0, self.dim());
  return product_gradient(kept, to_dtype(self, grad.dtype()), dim);
}

// Equal elements share the gradient of the largest or smallest. NaN equals nothing, so that its
// gradient is NaN, as in PyTorch.
Tensor extreme_gradient(const Tensor& grad, const Tensor& self, const Tensor& result,
                        IntArrayRef dims, bool keepdim) {
  const Tensor mask = eq(with_reduced_dims(result, dims, keepdim, self.dim()), self);
  const Tensor share = div(with_reduced_dims(grad, dims, keepdim, self.dim()),
                           sum_dim(mask, dims.empty() ? OptionalIntArrayRef() : dims, true));
  return mul(share, mask);
}
// The same of all elements, where it is NaNs that share if there are any.
Tensor extreme_of_all_gradient(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor mask = logical_or(eq(self, result), isnan(self));
  return where_ScalarOther(mask, div(grad, sum_all(mask)), 0);  // 0 though the gradient be infinite
}

Tensor selected_gradient(const Tensor& grad, const Tensor& indices, const InputMetadata& self,
                         int64_t dim, bool keepdim) {
  const bool dropped = !keepdim && self.dim() > 0;
  return scatter_(zeros(self.sizes, TensorOptions(grad.dtype(), grad.device())), dim,
                  dropped ? unsqueeze(indices, dim) : indices,
                  dropped ? unsqueeze(grad, dim) : grad);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, sum_all, SB_GRAD(self, (grad, self_meta), expand(grad, self_meta.sizes)));
  derive(m, sum_dim,
         SB_GRAD(self, (grad, self_meta, dim, keepdim),
                 sum_gradient(grad, self_meta, dims_or_all(dim), keepdim)));
  derive(m, mean_all,
         SB_GRAD(self, (grad, self_meta), expand(shared(grad, self_meta, {}), self_meta.sizes)));
  derive(m, mean_dim,
         SB_GRAD(self, (grad, self_meta, dim, keepdim),
                 sum_gradient(shared(grad, self_meta, dims_or_all(dim)), self_meta,
                              dims_or_all(dim), keepdim)));
  // `result` is read by nobody here. PyTorch saves it, so writing to it is an error.
  derive(m, prod_all,
         SB_GRAD(self, (grad, self, result), (void(result), prod_all_gradient(grad, self))));
  derive(m, prod_dim,
         SB_GRAD(self, (grad, self, dim, keepdim, result),
                 (void(result), prod_dim_gradient(grad, self, dim, keepdim))));

  derive(m, amax,
         SB_GRAD(self, (grad, self, result, dim, keepdim),
                 extreme_gradient(grad, self, result, dim, keepdim)));
  derive(m, amin,
         SB_GRAD(self, (grad, self, result, dim, keepdim),
                 extreme_gradient(grad, self, result, dim, keepdim)));
  derive(m, max_all,
         SB_GRAD(self, (grad, self, result), extreme_of_all_gradient(grad, self, result)));
  derive(m, min_all,
         SB_GRAD(self, (grad, self, result), extreme_of_all_gradient(grad, self, result)));
  derive(m, max_dim,
         SB_GRAD(self, (grad, indices, self_meta, dim, keepdim),
                 selected_gradient(grad, indices, self_meta, dim, keepdim)));
  derive(m, min_dim,
         SB_GRAD(self, (grad, indices, self_meta, dim, keepdim),
                 selected_gradient(grad, indices, self_meta, dim, keepdim)));

  not_differentiable(m, argmax);
  not_differentiable(m, argmin);
  not_differentiable(m, any_all);
  not_differentiable(m, any_dim);
  not_differentiable(m, all_all);
  not_differentiable(m, all_dim);
}

}  // namespace
}  // namespace sb
