// Taking columns and summing them are each other's transposed.

#include "switchboard/ops/spatial/columns.h"

#include "switchboard/autograd/derivatives.h"

namespace sb {
namespace {

SymIntArrayRef space_of(const InputMetadata& meta) { return SymIntArrayRef(meta.sizes).last(2); }

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, im2col,
         SB_GRAD(self, (grad, self_meta, kernel_size, dilation, padding, stride),
                 col2im(grad, space_of(self_meta), kernel_size, dilation, padding, stride)));
  derive(m, col2im,
         SB_GRAD(self, (grad, kernel_size, dilation, padding, stride),
                 im2col(grad, kernel_size, dilation, padding, stride)));
}

}  // namespace sb
