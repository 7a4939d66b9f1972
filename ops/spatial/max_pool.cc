#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/spatial/pool_loops.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;

// What a dtype is compared in. RuntimeError for other integers than int64, as PyTorch.
DType compared_in(const char* op, DType dtype) {
  return dtype == DType::Int64 ? dtype : computed_in_float(op, dtype);
}

template <int n, SizeType Int>
BasicPoolShape<Int> shape_of(const char* op, const Tensor& self, IntArrayRef kernel_size,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                             bool ceil_mode) {
  check_batched_or_not<Int>(op, self, n);
  compared_in(op, self.dtype());
  return pool_shape<Int>(op, sizes_of<Int>(self), n, kernel_size, stride, padding, dilation,
                         ceil_mode);
}

template <int n, SizeType Int>
std::array<BasicTensorMeta<Int>, 2> max_pool_rule(const Tensor& self, IntArrayRef kernel_size,
                                                  IntArrayRef stride, IntArrayRef padding,
                                                  IntArrayRef dilation, bool ceil_mode) {
  const auto s =
      shape_of<n, Int>("max_pool", self, kernel_size, stride, padding, dilation, ceil_mode);
  const SizeVector<Int> sizes = with_space<Int>(sizes_of<Int>(self), s.output, n);
  return {laid_out_like<Int>(self, sizes, self.dtype()),
          laid_out_like<Int>(self, sizes, DType::Int64)};
}
template <int n>
void max_pool_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& out,
                     const Tensor& indices) {
  const PoolShape s =
      shape_of<n, int64_t>("max_pool", self, kernel_size, stride, padding, dilation, ceil_mode);
  const DType dtype = compared_in("max_pool", self.dtype());
  const auto is_last = [](const Tensor& t) { return t.is_contiguous(MemoryFormat::ChannelsLast); };
  if (n == 2 && self.dim() == 4 && self.dtype() == DType::Float32 && !self.is_contiguous() &&
      is_last(self) && is_last(out) && is_last(indices)) {
    return max_pool_channels_last(pool_windows(s), self, out, indices);
  }
  const DenseOutput dense(out, dtype), dense_indices(indices, DType::Int64);
  max_pool_planes(pool_windows(s), dense_input(self, dtype), dense.tensor(),
                  dense_indices.tensor());
  dense.finish();
  dense_indices.finish();
}

template <int n, SizeType Int>
BasicTensorMeta<Int> max_pool_backward_rule(const Tensor& grad_output, const Tensor& self,
                                            IntArrayRef kernel_size, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode, const Tensor& indices) {
  const char* op = "max_pool_backward";
  const auto s = shape_of<n, Int>(op, self, kernel_size, stride, padding, dilation, ceil_mode);
  const SizeVector<Int> sizes = with_space<Int>(sizes_of<Int>(self), s.output, n);
  check_dtype(op, "grad_output", grad_output, self.dtype());
  check_dtype(op, "indices", indices, DType::Int64);
  check_sizes<Int>(op, "grad_output", grad_output, sizes);
  check_sizes<Int>(op, "indices", indices, sizes);
  return laid_out_like<Int>(self, sizes_of<Int>(self), self.dtype());
}
template <int n>
void max_pool_backward_kernel(const Tensor& grad_output, const Tensor& self, IntArrayRef,
                              IntArrayRef, IntArrayRef, IntArrayRef, bool, const Tensor& indices,
                              const Tensor& grad_input) {
  max_backward("max_pool_backward", grad_output, self, indices, grad_input, n);
}

std::tuple<Tensor, Tensor> with_indices_1d(const Tensor& self, IntArrayRef kernel_size,
                                           IntArrayRef stride, IntArrayRef padding,
                                           IntArrayRef dilation, bool ceil_mode) {
  const char* op = "max_pool1d";
  check_rank_1d(op, self);
  const int64_t kernel[] = {1, one_int(op, "kernel_size", kernel_size)};
  const int64_t step[] = {1, stride.empty() ? kernel[1] : one_int(op, "stride", stride)};
  const int64_t pad[] = {0, one_int(op, "padding", padding)};
  const int64_t spread[] = {1, one_int(op, "dilation", dilation)};
  const auto [values, indices] =
      max_pool2d_with_indices(unsqueeze(self, -2), kernel, step, pad, spread, ceil_mode);
  return {squeeze_dim(values, -2), squeeze_dim(indices, -2)};
}
// Unlike max_pool1d_with_indices' its result is contiguous.
Tensor without_indices_1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                          IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return contiguous(std::get<0>(
      max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)));
}
template <auto& with_indices>
Tensor without_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, max_pool1d).composed(&without_indices_1d);
  define(m, max_pool1d_with_indices).composed(&with_indices_1d);
  define(m, max_pool2d).composed(&without_indices<max_pool2d_with_indices>);
  define(m, max_pool3d).composed(&without_indices<max_pool3d_with_indices>);
  define(m, max_pool2d_with_indices)
      .structured<by_size_rule<max_pool_rule<2, int64_t>, max_pool_rule<2, SymInt>>,
                  max_pool_kernel<2>>()
      .out(max_pool2d_with_indices_out);
  define(m, max_pool3d_with_indices)
      .structured<by_size_rule<max_pool_rule<3, int64_t>, max_pool_rule<3, SymInt>>,
                  max_pool_kernel<3>>()
      .out(max_pool3d_with_indices_out);
  define(m, max_pool2d_with_indices_backward)
      .structured<
          by_size_rule<max_pool_backward_rule<2, int64_t>, max_pool_backward_rule<2, SymInt>>,
          max_pool_backward_kernel<2>>()
      .out(max_pool2d_with_indices_backward_out);
  define(m, max_pool3d_with_indices_backward)
      .structured<
          by_size_rule<max_pool_backward_rule<3, int64_t>, max_pool_backward_rule<3, SymInt>>,
          max_pool_backward_kernel<3>>()
      .out(max_pool3d_with_indices_backward_out);
}

}  // namespace sb
