#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/spatial/pool_loops.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;

template <int n, SizeType Int>
BasicPoolShape<Int> shape_of(std::string_view op, const Tensor& self, IntArrayRef kernel_size,
                             IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                             std::optional<int64_t> divisor_override) {
  // As PyTorch, which asks for the size of the channels before it looks at the rank.
  SB_CHECK_INDEX(n == 3 || self.dim() > n, op, ": expected ", n + 1, " or ", n + 2,
                 " dimensions, got ", self.describe());
  check_batched_or_not<Int>(op, self, n);
  SB_CHECK(divisor_override != 0, op, ": divisor_override: expected another number than 0");
  const int64_t no_dilation[] = {1};
  const auto s = pool_shape<Int>(op, sizes_of<Int>(self), n, kernel_size, stride, padding,
                                 no_dilation, ceil_mode);
  // As PyTorch, which lets windows of two dimensions hang over.
  for (size_t d = 0; n == 3 && d < 3; ++d) {
    SB_CHECK(s.kernel[d] <= s.input[d], op, ": expected an input of at least kernel_size ",
             shape_text(kernel_size), ", got ", self.describe());
  }
  computed_in_real(op, self.dtype());
  return s;
}

template <int n, SizeType Int>
BasicTensorMeta<Int> rule(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                          IntArrayRef padding, bool ceil_mode, bool,
                          std::optional<int64_t> divisor) {
  const auto s =
      shape_of<n, Int>("avg_pool", self, kernel_size, stride, padding, ceil_mode, divisor);
  return pool_laid_out_like<Int>(n, self, with_space<Int>(sizes_of<Int>(self), s.output, n),
                                 self.dtype());
}
template <int n>
void kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
            bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor,
            const Tensor& out) {
  const PoolShape s =
      shape_of<n, int64_t>("avg_pool", self, kernel_size, stride, padding, ceil_mode, divisor);
  const DType dtype = computed_in_real("avg_pool", self.dtype());
  const DenseOutput dense(out, dtype);
  average_planes(pool_windows(s), {count_include_pad, divisor}, dense_input(self, dtype),
                 dense.tensor());
  dense.finish();
}

template <int n, SizeType Int>
BasicTensorMeta<Int> backward_rule(const Tensor& grad_output, const Tensor& self,
                                   IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                   bool ceil_mode, bool, std::optional<int64_t> divisor) {
  const char* op = "avg_pool_backward";
  const auto s = shape_of<n, Int>(op, self, kernel_size, stride, padding, ceil_mode, divisor);
  check_dtype(op, "grad_output", grad_output, self.dtype());
  check_sizes<Int>(op, "grad_output", grad_output,
                   with_space<Int>(sizes_of<Int>(self), s.output, n));
  return pool_laid_out_like<Int>(n, self, sizes_of<Int>(self), self.dtype());
}
template <int n>
void backward_kernel(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                     IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor,
                     const Tensor& grad_input) {
  const char* op = "avg_pool_backward";
  const PoolShape s =
      shape_of<n, int64_t>(op, self, kernel_size, stride, padding, ceil_mode, divisor);
  const DType dtype = computed_in_real(op, self.dtype());
  const DenseOutput dense(grad_input, dtype);
  average_planes_backward(pool_windows(s), {count_include_pad, divisor},
                          dense_input(grad_output, dtype), dense.tensor());
  dense.finish();
}

Tensor avg_pool1d_composite(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                            IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  check_rank_1d("avg_pool1d", self);
  const int64_t kernel[] = {1, one_int("avg_pool1d", "kernel_size", kernel_size)};
  const int64_t step[] = {1, stride.empty() ? kernel[1] : one_int("avg_pool1d", "stride", stride)};
  const int64_t pad[] = {0, one_int("avg_pool1d", "padding", padding)};
  return squeeze_dim(avg_pool2d(unsqueeze(self, -2), kernel, step, pad, ceil_mode,
                                count_include_pad, std::nullopt),
                     -2);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, avg_pool1d)
      .composed(&avg_pool1d_composite)
      .out("out", {.dtype = OutDType::Exact, .key = DispatchKey::CompositeExplicitAutograd});
  define(m, avg_pool2d)
      .structured<by_size_rule<rule<2, int64_t>, rule<2, SymInt>>, kernel<2>>()
      .out(avg_pool2d_out);
  define(m, avg_pool3d)
      .structured<by_size_rule<rule<3, int64_t>, rule<3, SymInt>>, kernel<3>>()
      .out(avg_pool3d_out);
  define(m, avg_pool2d_backward)
      .structured<by_size_rule<backward_rule<2, int64_t>, backward_rule<2, SymInt>>,
                  backward_kernel<2>>()
      .out(avg_pool2d_backward_out);
  define(m, avg_pool3d_backward)
      .structured<by_size_rule<backward_rule<3, int64_t>, backward_rule<3, SymInt>>,
                  backward_kernel<3>>()
      .out(avg_pool3d_backward_out);
}

}  // namespace sb
