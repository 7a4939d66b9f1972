// Derivatives of what reads by index along one dimension, or as if self were flat: gradients go
// back to where the elements came from, and add up there.

#include "switchboard/ops/indexing/gather.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/scatter.h"

namespace sb {
namespace {

Tensor gather_gradient(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
                       bool sparse) {
  SB_CHECK_NOT_IMPLEMENTED(!sparse, "gather: sparse_grad: sparse gradients are not implemented");
  return scatter_add_(new_zeros(grad, self.sym_sizes()), dim, index, grad);
}

Tensor index_select_gradient(const Tensor& grad, const InputMetadata& self, int64_t dim,
                             const Tensor& index) {
  // A number is selected whole, however many indices there are.
  if (self.dim() == 0) return grad;
  return index_add_(new_zeros(grad, self.sizes), dim, index, grad);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, gather,
         SB_GRAD(self, (grad, self, dim, index, sparse_grad),
                 gather_gradient(grad, self, dim, index, sparse_grad)));
  derive(m, index_select,
         SB_GRAD(self, (grad, self_meta, dim, index),
                 index_select_gradient(grad, self_meta, dim, index)));
  derive(m, take,
         SB_GRAD(self, (grad, self, index),
                 put_(new_zeros(grad, self.sym_sizes()), index, grad, /*accumulate=*/true)));
}

}  // namespace
}  // namespace sb
