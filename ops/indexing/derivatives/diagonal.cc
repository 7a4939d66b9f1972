#include "switchboard/ops/indexing/diagonal.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Of `diag`, which goes either way.
Tensor diag_gradient(const Tensor& grad, const InputMetadata& self, int64_t offset) {
  return self.dim() == 1 ? diag(grad, offset) : diagonal_backward(grad, self.sizes, offset, 0, 1);
}

Tensor trace_gradient(const Tensor& grad, const InputMetadata& self) {
  // The number all along the diagonal.
  const Tensor along = diagonal(expand(grad, self.sizes));
  return diagonal_backward(along, self.sizes, 0, 0, 1);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, diagonal,
         SB_GRAD(self, (grad, self_meta, offset, dim1, dim2),
                 diagonal_backward(grad, self_meta.sizes, offset, dim1, dim2)));
  derive(m, diagonal_backward,
         SB_GRAD(grad_output, (grad, offset, dim1, dim2), diagonal(grad, offset, dim1, dim2)));
  derive(m, diagonal_scatter,
         SB_GRAD(self, (grad, src_meta, offset, dim1, dim2),
                 diagonal_scatter(grad, new_zeros(grad, src_meta.sizes), offset, dim1, dim2)),
         SB_GRAD(src, (grad, offset, dim1, dim2), diagonal(grad, offset, dim1, dim2)));
  derive(m, diag_embed,
         SB_GRAD(self, (grad, offset, dim1, dim2), diagonal(grad, offset, dim1, dim2)));
  // The argument `diagonal` is a number.
  derive(m, diag,
         SB_GRAD(self, (grad, self_meta, diagonal), diag_gradient(grad, self_meta, diagonal)));
  derive(m, matrix_trace, SB_GRAD(self, (grad, self_meta), trace_gradient(grad, self_meta)));
}

}  // namespace
}  // namespace sb
