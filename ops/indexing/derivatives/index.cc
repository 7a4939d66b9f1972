// Derivatives of advanced indexing. Where several values meet one place without being added up, all
// get its gradient, as in PyTorch, although one of them stays.

#include "switchboard/ops/indexing/index.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor index_gradient(const Tensor& grad, const InputMetadata& self, OptionalTensorList indices) {
  return _index_put_impl_(new_zeros(grad, self.sizes), indices, grad, /*accumulate=*/true,
                          /*unsafe=*/true);
}

// Of self: what is replaced has none.
Tensor replaced_gradient(const Tensor& grad, OptionalTensorList indices, bool accumulate) {
  return accumulate ? grad : index_put(grad, indices, new_zeros(grad, {1}));
}
Tensor replaced_flat_gradient(const Tensor& grad, const Tensor& index, bool accumulate) {
  return accumulate ? grad : put(grad, index, new_zeros(grad, index.sym_sizes()));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, index,
         SB_GRAD(self, (grad, self_meta, indices), index_gradient(grad, self_meta, indices)));
  derive(m, index_put,
         SB_GRAD(self, (grad, indices, accumulate), replaced_gradient(grad, indices, accumulate)),
         SB_GRAD(values, (grad, indices), index(grad, indices)));
  derive(m, _index_put_impl,
         SB_GRAD(self, (grad, indices, accumulate), replaced_gradient(grad, indices, accumulate)),
         SB_GRAD(values, (grad, indices), index(grad, indices)));
  derive(m, put,
         SB_GRAD(self, (grad, index, accumulate), replaced_flat_gradient(grad, index, accumulate)),
         SB_GRAD(source, (grad, index, source), reshape(take(grad, index), source.sym_sizes())));
}

}  // namespace
}  // namespace sb
