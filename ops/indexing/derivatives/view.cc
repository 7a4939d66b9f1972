// Derivatives of sliding windows, and of the gradients of views, which are these views.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, unfold,
         SB_GRAD(self, (grad, self_meta, dimension, size, step),
                 unfold_backward(grad, self_meta.sizes, dimension, size, step)));
  derive(m, unfold_backward,
         SB_GRAD(grad_in, (grad, dim, size, step), unfold(grad, dim, size, step)));
  derive(m, select_backward, SB_GRAD(grad_output, (grad, dim, index), select(grad, dim, index)));
  derive(m, slice_backward,
         SB_GRAD(grad_output, (grad, dim, start, end, step), slice(grad, dim, start, end, step)));
}

}  // namespace
}  // namespace sb
