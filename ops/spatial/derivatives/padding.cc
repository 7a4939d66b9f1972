// Padding is a linear map, whose transposed is its backward.

#include "switchboard/ops/spatial/padding.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

template <auto& pad, auto& backward>
void derive_padding(Library& m) {
  derive(m, pad, SB_GRAD(self, (grad, self, padding), backward(grad, self, padding)));
  // Of self it needs the shape alone.
  derive(m, backward, SB_GRAD(grad_output, (grad, padding), pad(grad, padding)),
         SB_GRAD(self, (grad), zeros_like(grad)));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_padding<reflection_pad1d, reflection_pad1d_backward>(m);
  derive_padding<reflection_pad2d, reflection_pad2d_backward>(m);
  derive_padding<reflection_pad3d, reflection_pad3d_backward>(m);
  derive_padding<replication_pad1d, replication_pad1d_backward>(m);
  derive_padding<replication_pad2d, replication_pad2d_backward>(m);
  derive_padding<replication_pad3d, replication_pad3d_backward>(m);
}

}  // namespace sb
