// Largest elements pass their gradient on to where they came from, means to all that they are of.
// The gradient of either does not depend on the elements that were pooled: theirs is zeros.

#include "switchboard/ops/spatial/pooling.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// The elements of `grad` that the indices name, each in its plane of `dims` dimensions: what takes
// a scattering to those places back.
Tensor at_indices(const Tensor& grad, const Tensor& indices, int64_t dims) {
  const Tensor of_planes = gather(flatten(grad, -dims, -1), -1, flatten(indices, -dims, -1));
  return view(of_planes, indices.sym_sizes());
}

// Space has the last dimensions of `meta`, as a pooling's size list.
SymIntArrayRef space_of_2d(const InputMetadata& meta) { return SymIntArrayRef(meta.sizes).last(2); }
SymIntArrayRef space_of_3d(const InputMetadata& meta) { return SymIntArrayRef(meta.sizes).last(3); }

// Gradients of the backward of a pooling that gives indices.
template <auto& backward, int dims>
void derive_from_indices(Library& m) {
  derive(m, backward, SB_GRAD(grad_output, (grad, indices), at_indices(grad, indices, dims)),
         SB_GRAD(self, (grad), zeros_like(grad)));
}

template <auto& pool, auto& backward, int dims>
void derive_max_pool(Library& m) {
  derive(m, pool,
         SB_GRAD(self, (grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1),
                 backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)));
  derive_from_indices<backward, dims>(m);
}

template <auto& pool, auto& backward, int dims>
void derive_adaptive_max_pool(Library& m) {
  derive(m, pool, SB_GRAD(self, (grad, self, result1), backward(grad, self, result1)));
  derive_from_indices<backward, dims>(m);
}

template <auto& pool, auto& backward, int dims>
void derive_fractional_max_pool(Library& m) {
  derive(m, pool,
         SB_GRAD(self, (grad, self, kernel_size, output_size, result1),
                 backward(grad, self, kernel_size, output_size, result1)));
  derive_from_indices<backward, dims>(m);
}

template <auto& pool, auto& backward>
void derive_avg_pool(Library& m) {
  derive(m, pool,
         SB_GRAD(self,
                 (grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override),
                 backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                          divisor_override)));
  derive(
      m, backward,
      SB_GRAD(
          grad_output,
          (grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
          pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)),
      SB_GRAD(self, (grad), zeros_like(grad)));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_max_pool<max_pool2d_with_indices, max_pool2d_with_indices_backward, 2>(m);
  derive_max_pool<max_pool3d_with_indices, max_pool3d_with_indices_backward, 3>(m);
  derive_adaptive_max_pool<adaptive_max_pool2d, adaptive_max_pool2d_backward, 2>(m);
  derive_adaptive_max_pool<adaptive_max_pool3d, adaptive_max_pool3d_backward, 3>(m);
  derive_fractional_max_pool<fractional_max_pool2d, fractional_max_pool2d_backward, 2>(m);
  derive_fractional_max_pool<fractional_max_pool3d, fractional_max_pool3d_backward, 3>(m);
  derive(m, max_unpool2d, SB_GRAD(self, (grad, indices), at_indices(grad, indices, 2)));
  derive(m, max_unpool3d, SB_GRAD(self, (grad, indices), at_indices(grad, indices, 3)));

  derive_avg_pool<avg_pool2d, avg_pool2d_backward>(m);
  derive_avg_pool<avg_pool3d, avg_pool3d_backward>(m);
  derive(m, _adaptive_avg_pool2d,
         SB_GRAD(self, (grad, self), _adaptive_avg_pool2d_backward(grad, self)));
  derive(m, _adaptive_avg_pool3d,
         SB_GRAD(self, (grad, self), _adaptive_avg_pool3d_backward(grad, self)));
  derive(m, _adaptive_avg_pool2d_backward,
         SB_GRAD(grad_output, (grad, grad_output_meta),
                 _adaptive_avg_pool2d(grad, space_of_2d(grad_output_meta))),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, _adaptive_avg_pool3d_backward,
         SB_GRAD(grad_output, (grad, grad_output_meta),
                 _adaptive_avg_pool3d(grad, space_of_3d(grad_output_meta))),
         SB_GRAD(self, (grad), zeros_like(grad)));
}

}  // namespace sb
