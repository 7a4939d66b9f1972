// Pooling with windows at random places, and what takes a max pooling back.

#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/spatial/pool_loops.h"
#include "switchboard/ops/spatial/pooling.h"

namespace sb {
namespace {

using namespace spatial;

void check_length(const char* op, const char* name, IntArrayRef list, int n) {
  SB_CHECK(list.size() == static_cast<size_t>(n), op, ": ", name, ": expected ", n,
           " elements, got ", shape_text(list));
}

template <int n, SizeType Int>
std::array<BasicTensorMeta<Int>, 2> fractional_rule(const Tensor& self, IntArrayRef kernel_size,
                                                    IntArrayRef output_size,
                                                    const Tensor& random_samples) {
  const char* op = "fractional_max_pool";
  check_batched_or_not<Int>(op, self, n);
  check_length(op, "kernel_size", kernel_size, n);
  check_length(op, "output_size", output_size, n);
  computed_in_float(op, self.dtype());
  check_dtype(op, "random_samples", random_samples, self.dtype());
  const Space<Int> in = space_of<Int>(sizes_of<Int>(self), n);
  const Size3 out = space_of(output_size, n);
  const Size3 kernel = space_of(kernel_size, n);
  // As PyTorch, which wants room for a window more in three dimensions, though it needs none.
  const int64_t spare = n == 3 ? 1 : 0;
  for (size_t d = 0; d < 3; ++d) {
    const auto check_fits = [&](const auto& fits) {
      SB_CHECK(fits, op, ": ", shape_text(output_size), " windows of ", shape_text(kernel_size),
               " do not fit ", self.describe());
    };
    check_fits(kernel[d] > 0 && out[d] > 0);
    check_fits(in[d] >= kernel[d]);
    check_fits(in[d] - kernel[d] + 1 - spare >= out[d]);
  }
  const SizesRef<Int> like = sizes_of<Int>(self);
  const Int planes = product_of_sizes<Int>(like.first(like.size() - n));
  SB_CHECK(numel_of<Int>(random_samples) >= planes * n, op, ": random_samples: expected ", n,
           " numbers for each of ", size_text(planes), " planes, got ", random_samples.describe());
  const SizeVector<Int> sizes = with_space<Int>(like, {out[0], out[1], out[2]}, n);
  return {BasicTensorMeta<Int>{sizes, self.dtype()}, BasicTensorMeta<Int>{sizes, DType::Int64}};
}

// Windows spread evenly, with a random start. The last always ends where the input does.
WindowRow random_row(double sample, int64_t input, int64_t output, int64_t kernel, bool in_float) {
  WindowRow row;
  for (int64_t o = 0; o < output; ++o) {
    int64_t start = input - kernel;
    if (o + 1 < output) {
      if (in_float) {
        const float alpha = static_cast<float>(input - kernel) / static_cast<float>(output - 1);
        const float s = static_cast<float>(sample);
        start = static_cast<int64_t>((static_cast<float>(o) + s) * alpha) -
                static_cast<int64_t>(s * alpha);
      } else {
        const double alpha = static_cast<double>(input - kernel) / static_cast<double>(output - 1);
        start = static_cast<int64_t>((static_cast<double>(o) + sample) * alpha) -
                static_cast<int64_t>(sample * alpha);
      }
    }
    row.start.push_back(start);
    row.end.push_back(start + kernel);
  }
  return row;
}

template <int n>
void fractional_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef,
                       const Tensor& random_samples, const Tensor& out, const Tensor& indices) {
  const char* op = "fractional_max_pool";
  if (out.numel() == 0) return;
  const DType dtype = computed_in_float(op, self.dtype());
  const Tensor input = dense_input(self, dtype);
  const Tensor samples = dense_input(random_samples, DType::Float64);
  const double* sample = samples.data<double>();
  const Size3 in = space_of(self.sizes(), n), space = space_of(out.sizes(), n);
  const Size3 kernel = space_of(kernel_size, n);
  const int64_t planes = self.numel() / volume(in);
  for (int64_t i = 0; i < planes * n; ++i) {
    SB_CHECK(sample[i] >= 0 && sample[i] < 1, op,
             ": random_samples: expected numbers in [0, 1), got ", sample[i]);
  }
  const DenseOutput dense(out, dtype), dense_indices(indices, DType::Int64);
  parallel_for(0, planes, grain_for(volume(space) * volume(kernel)), [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p) {
      PoolWindows windows{in, space, {}};
      for (size_t d = 0; d < 3; ++d) {
        // The samples of a plane are for the width first in two dimensions, last in three.
        const size_t i = n == 2 ? 2 - d : d;
        const double s = d < 3 - n ? 0 : sample[static_cast<size_t>(p) * n + i];
        windows.rows[d] = random_row(s, in[d], space[d], kernel[d], dtype == DType::Float32);
      }
      max_pool_plane(windows, input, dense.tensor(), dense_indices.tensor(), p);
    }
  });
  dense.finish();
  dense_indices.finish();
}

template <int n, SizeType Int>
BasicTensorMeta<Int> fractional_backward_rule(const Tensor& grad_output, const Tensor& self,
                                              IntArrayRef kernel_size, IntArrayRef output_size,
                                              const Tensor& indices) {
  const char* op = "fractional_max_pool_backward";
  check_batched_or_not<Int>(op, self, n);
  check_length(op, "kernel_size", kernel_size, n);
  check_length(op, "output_size", output_size, n);
  const Size3 out = space_of(output_size, n);
  const SizesRef<Int> like = sizes_of<Int>(self);
  const SizeVector<Int> sizes = with_space<Int>(like, {out[0], out[1], out[2]}, n);
  check_dtype(op, "grad_output", grad_output, self.dtype());
  check_dtype(op, "indices", indices, DType::Int64);
  check_sizes<Int>(op, "grad_output", grad_output, sizes);
  check_sizes<Int>(op, "indices", indices, sizes);
  computed_in_float(op, self.dtype());
  return {{like.begin(), like.end()}, self.dtype()};
}
template <int n>
void fractional_backward_kernel(const Tensor& grad_output, const Tensor& self, IntArrayRef,
                                IntArrayRef, const Tensor& indices, const Tensor& grad_input) {
  max_backward("fractional_max_pool_backward", grad_output, self, indices, grad_input, n);
}

template <int n, SizeType Int>
BasicTensorMeta<Int> unpool(const Tensor& self, const Tensor& indices, SizesRef<Int> output_size) {
  const char* op = "max_unpool";
  check_batched_or_not<Int>(op, self, n);
  SB_CHECK(output_size.size() == static_cast<size_t>(n), op, ": output_size: expected ", n,
           " elements, got ", shape_text(output_size));
  check_dtype(op, "indices", indices, DType::Int64);
  check_sizes<Int>(op, "indices", indices, sizes_of<Int>(self));
  computed_in_float(op, self.dtype());
  const SizeVector<Int> sizes =
      with_space<Int>(sizes_of<Int>(self), space_of<Int>(output_size, n), n);
  return pool_laid_out_like<Int>(n, self, sizes, self.dtype());
}
template <int n>
void unpool_kernel(const Tensor& self, const Tensor& indices, const Tensor& out) {
  if (out.numel() == 0) return;
  const DType dtype = computed_in_float("max_unpool", self.dtype());
  const int64_t plane_size = volume(space_of(out.sizes(), n));
  const Tensor index = dense_input(indices, DType::Int64);
  check_plane_indices("max_unpool", index, plane_size);
  const DenseOutput dense(out, dtype);
  scatter_to_planes(dense_input(self, dtype), index, dense.tensor(), out.numel() / plane_size,
                    /*add=*/false);
  dense.finish();
}

template <SizeType Int>
BasicTensorMeta<Int> unpool2d_rule(const Tensor& self, const Tensor& indices,
                                   SymIntArrayRef output_size) {
  return unpool<2, Int>(self, indices, sizes_as<Int>(output_size));
}
void unpool2d_kernel(const Tensor& self, const Tensor& indices, SymIntArrayRef, const Tensor& out) {
  unpool_kernel<2>(self, indices, out);
}
// Neither stride nor padding counts; they are checked as PyTorch does.
template <SizeType Int>
BasicTensorMeta<Int> unpool3d_rule(const Tensor& self, const Tensor& indices,
                                   SymIntArrayRef output_size, IntArrayRef stride,
                                   IntArrayRef padding) {
  check_length("max_unpool3d", "stride", stride, 3);
  check_length("max_unpool3d", "padding", padding, 3);
  for (const int64_t s : stride) {
    SB_CHECK(s > 0, "max_unpool3d: stride: expected more than 0, got ", shape_text(stride));
  }
  return unpool<3, Int>(self, indices, sizes_as<Int>(output_size));
}
void unpool3d_kernel(const Tensor& self, const Tensor& indices, SymIntArrayRef, IntArrayRef,
                     IntArrayRef, const Tensor& out) {
  unpool_kernel<3>(self, indices, out);
}

constexpr auto kUnpool2d = by_size_rule<unpool2d_rule<int64_t>, unpool2d_rule<SymInt>>;
constexpr auto kUnpool3d = by_size_rule<unpool3d_rule<int64_t>, unpool3d_rule<SymInt>>;

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, fractional_max_pool2d)
      .structured<by_size_rule<fractional_rule<2, int64_t>, fractional_rule<2, SymInt>>,
                  fractional_kernel<2>>()
      .out(fractional_max_pool2d_out);
  define(m, fractional_max_pool3d)
      .structured<by_size_rule<fractional_rule<3, int64_t>, fractional_rule<3, SymInt>>,
                  fractional_kernel<3>>()
      .out(fractional_max_pool3d_out);
  define(m, fractional_max_pool2d_backward)
      .structured<
          by_size_rule<fractional_backward_rule<2, int64_t>, fractional_backward_rule<2, SymInt>>,
          fractional_backward_kernel<2>>()
      .out(fractional_max_pool2d_backward_out);
  define(m, fractional_max_pool3d_backward)
      .structured<
          by_size_rule<fractional_backward_rule<3, int64_t>, fractional_backward_rule<3, SymInt>>,
          fractional_backward_kernel<3>>()
      .out(fractional_max_pool3d_backward_out);
  define(m, max_unpool2d).structured<kUnpool2d, unpool2d_kernel>();
  define_restrided_out<max_unpool2d, kUnpool2d, unpool2d_kernel>(m, max_unpool2d_out);
  define(m, max_unpool3d).structured<kUnpool3d, unpool3d_kernel>();
  define_restrided_out<max_unpool3d, kUnpool3d, unpool3d_kernel>(m, max_unpool3d_out);
}

}  // namespace sb
