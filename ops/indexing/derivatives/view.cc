// Derivatives of sliding windows, and of the gradients of views, which are these views.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor unfold_gradient(const Tensor& grad, const InputMetadata& self, int64_t dim, int64_t size,
                       int64_t step) {
  DimVector sizes;
  for (const SymInt& s : self.sizes) sizes.push_back(s.guard_int());
  return unfold_backward(grad, sizes, dim, size, step);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, unfold,
         SB_GRAD(self, (grad, self_meta, dimension, size, step),
                 unfold_gradient(grad, self_meta, dimension, size, step)));
  derive(m, unfold_backward,
         SB_GRAD(grad_in, (grad, dim, size, step), unfold(grad, dim, size, step)));
  derive(m, select_backward, SB_GRAD(grad_output, (grad, dim, index), select(grad, dim, index)));
  derive(m, slice_backward,
         SB_GRAD(grad_output, (grad, dim, start, end, step), slice(grad, dim, start, end, step)));
}

}  // namespace
}  // namespace sb
