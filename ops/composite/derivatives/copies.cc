// The derivatives of copies of views are those of the views; of detach and of another dtype there
// is none.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/indexing/view_backward.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_bounds.h"

namespace sb {
namespace {

SB_OP(narrow_copy,
      "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor");

Tensor narrow_copy_gradient(const Tensor& grad, const InputMetadata& self, int64_t dim,
                            const SymInt& start, const SymInt& length) {
  const auto d = static_cast<size_t>(wrap_dim("narrow_copy", dim, grad.dim()));
  const SymInt from = from_front(start, self.sizes[d]);
  return slice_backward(grad, self.sizes, dim, from, from + length, 1);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, narrow_copy,
         SB_GRAD(self, (grad, self_meta, dim, start, length),
                 narrow_copy_gradient(grad, self_meta, dim, start, length)));
  m.impl("detach_copy", DispatchKey::Autograd, fallthrough);
  m.impl("view_copy.dtype", DispatchKey::Autograd, fallthrough);
}

}  // namespace
}  // namespace sb
