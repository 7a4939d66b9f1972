// Derivatives of choosing and writing by a mask. masked_scatter_ takes from source in the order in
// which self lies in memory; its gradient, as PyTorch's, in row-major order.

#include "switchboard/ops/indexing/masked.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor masked_select_gradient(const Tensor& grad, const Tensor& self, const Tensor& mask) {
  const SymDimVector sizes = broadcast_sizes<SymInt>(self.sym_sizes(), mask.sym_sizes());
  return masked_scatter_(new_zeros(grad, sizes), expand(mask, sizes), grad);
}

// Of the elements that were scattered, in order; zeros for those that were left. Composed so that
// no shape depends on the mask.
Tensor masked_source_gradient(const Tensor& grad, const Tensor& mask, const InputMetadata& source) {
  const Tensor chosen = reshape(expand(to_dtype(mask, DType::Bool), grad.sym_sizes()), {-1});
  const SymInt size = sym_product(source.sizes);
  // What was not chosen goes to a place of its own, the first.
  const Tensor to = mul(cumsum(chosen, 0), chosen);
  const Tensor result = scatter_add_(new_zeros(grad, {size + 1}), 0, to, reshape(grad, {-1}));
  return reshape(narrow(result, 0, 1, size), source.sizes);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, masked_select,
         SB_GRAD(self, (grad, self, mask), masked_select_gradient(grad, self, mask)));
  derive(
      m, masked_scatter, SB_GRAD(self, (grad, mask), masked_fill(grad, mask, 0)),
      SB_GRAD(source, (grad, mask, source_meta), masked_source_gradient(grad, mask, source_meta)));
  not_differentiable(m, nonzero);
}

}  // namespace
}  // namespace sb
