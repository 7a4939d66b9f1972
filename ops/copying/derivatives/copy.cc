// Derivatives of what copies elements or writes a number to all of them, and of their functional
// forms; fresh tensors have none.

#include "switchboard/ops/copying/copy.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor on_device_of(const Tensor& grad, const InputMetadata& meta) {
  return grad.device() == meta.device ? grad : to(grad, TensorOptions(meta.device));
}
Tensor zeros_for(const Tensor& grad, const InputMetadata& meta) {
  return zeros(meta.sizes, TensorOptions(grad.dtype(), grad.device()));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, clone, SB_GRAD(self, (grad), grad));
  derive(m, _to_copy, SB_GRAD(self, (grad, self_meta), on_device_of(grad, self_meta)));

  // What was there before does not count any more.
  derive(m, copy_, SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(src, (grad, src_meta), on_device_of(grad, src_meta)));
  derive(m, copy, SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(src, (grad, src_meta), on_device_of(grad, src_meta)));
  derive(m, fill_, SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, fill, SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, fill__Tensor, SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(value, (grad, value_meta), on_device_of(sum_all(grad), value_meta)));
  derive(m, fill_Tensor, SB_GRAD(self, (grad), zeros_like(grad)),
         SB_GRAD(value, (grad, value_meta), on_device_of(sum_all(grad), value_meta)));
  derive(m, zero_, SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, zero, SB_GRAD(self, (grad), zeros_like(grad)));

  // as_strided_scatter is derived through its parts.
  derive(m, slice_scatter,
         SB_GRAD(self, (grad, src_meta, dim, start, end, step),
                 slice_scatter(grad, zeros_for(grad, src_meta), dim, start, end, step)),
         SB_GRAD(src, (grad, dim, start, end, step), slice(grad, dim, start, end, step)));
  derive(m, select_scatter,
         SB_GRAD(self, (grad, src_meta, dim, index),
                 select_scatter(grad, zeros_for(grad, src_meta), dim, index)),
         SB_GRAD(src, (grad, dim, index), select(grad, dim, index)));

  not_differentiable(m, empty_like);
  not_differentiable(m, zeros_like);
  not_differentiable(m, ones_like);
  not_differentiable(m, full_like);
  not_differentiable(m, new_empty);
  not_differentiable(m, new_empty_strided);
  not_differentiable(m, new_zeros);
  not_differentiable(m, new_ones);
  not_differentiable(m, new_full);
}

}  // namespace
}  // namespace sb
