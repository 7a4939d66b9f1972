#include <algorithm>

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/spatial/pool_loops.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;

// What errors say.
template <int n>
constexpr const char* kAverage = n == 2 ? "_adaptive_avg_pool2d" : "_adaptive_avg_pool3d";
template <int n>
constexpr const char* kAverageBackward =
    n == 2 ? "_adaptive_avg_pool2d_backward" : "_adaptive_avg_pool3d_backward";
template <int n>
constexpr const char* kMax = n == 2 ? "adaptive_max_pool2d" : "adaptive_max_pool3d";
template <int n>
constexpr const char* kMaxBackward =
    n == 2 ? "adaptive_max_pool2d_backward" : "adaptive_max_pool3d_backward";

// (N, C, space...) or (C, space...), of which only the first dimension may be empty.
template <int n, SizeType Int>
void check_pooled(const char* op, const Tensor& t) {
  SB_CHECK(t.dim() == n + 1 || t.dim() == n + 2, op, ": expected ", n + 1, " or ", n + 2,
           " dimensions, got ", t.describe());
  for (const Int& size : sizes_of<Int>(t).subspan(1)) {
    SB_CHECK(size != 0, op, ": expected no empty dimension besides the first, got ", t.describe());
  }
}

// The space of the result, after the checks that all share.
template <int n, SizeType Int>
Space<Int> output_space(const char* op, const Tensor& self, SizesRef<Int> output_size) {
  SB_CHECK(self.dim() == n + 1 || self.dim() == n + 2, op, ": expected ", n + 1, " or ", n + 2,
           " dimensions, got ", self.describe());
  SB_CHECK(output_size.size() == n, op, ": output_size: expected ", n, " elements, got ",
           shape_text(output_size));
  for (const Int& s : output_size) {
    SB_CHECK(s >= 0, op, ": output_size: expected at least 0, got ", shape_text(output_size));
  }
  // In three dimensions the channels count, too.
  for (int64_t d = n == 3 ? 1 : self.dim() - n; d < self.dim(); ++d) {
    SB_CHECK(sizes_of<Int>(self)[static_cast<size_t>(d)] != 0, op,
             ": expected an input with elements, got ", self.describe());
  }
  return space_of<Int>(output_size, n);
}
template <SizeType Int>
SizeVector<Int> plain(IntArrayRef list) {
  return SizeVector<Int>(list.begin(), list.end());
}
template <SizeType Int>
SizeVector<Int> plain(SymIntArrayRef list) {
  if constexpr (std::same_as<Int, int64_t>)
    return guarded(list);
  else
    return SizeVector<Int>(list.begin(), list.end());
}

// List is how the schema has output_size: symbolic in two dimensions.
template <int n, class List, SizeType Int>
BasicTensorMeta<Int> avg_rule(const Tensor& self, List output_size) {
  const Space<Int> space = output_space<n, Int>(kAverage<n>, self, plain<Int>(output_size));
  computed_in_float(kAverage<n>, self.dtype());
  return pool_laid_out_like<Int>(n, self, with_space<Int>(sizes_of<Int>(self), space, n),
                                 self.dtype());
}
template <int n, class List>
void avg_kernel(const Tensor& self, List, const Tensor& out) {
  if (out.numel() == 0) return;
  const DType dtype = computed_in_float(kAverage<n>, self.dtype());
  const DenseOutput dense(out, dtype);
  average_planes(adaptive_windows(space_of(self.sizes(), n), space_of(out.sizes(), n)), {},
                 dense_input(self, dtype), dense.tensor());
  dense.finish();
}

template <int n, SizeType Int>
BasicTensorMeta<Int> avg_backward_rule(const Tensor& grad_output, const Tensor& self) {
  const char* op = kAverageBackward<n>;
  check_pooled<n, Int>(op, grad_output);
  const Space<Int> space = output_space<n, Int>(op, self, sizes_of<Int>(grad_output).last(n));
  check_dtype(op, "grad_output", grad_output, self.dtype());
  check_sizes<Int>(op, "grad_output", grad_output, with_space<Int>(sizes_of<Int>(self), space, n));
  computed_in_float(op, self.dtype());
  return pool_laid_out_like<Int>(n, self, sizes_of<Int>(self), self.dtype());
}
template <int n>
void avg_backward_kernel(const Tensor& grad_output, const Tensor& self, const Tensor& grad_input) {
  const DType dtype = computed_in_float(kAverageBackward<n>, self.dtype());
  const DenseOutput dense(grad_input, dtype);
  // A shape without elements may be of any size: it has no windows.
  const Size3 space = grad_output.numel() == 0 ? Size3{} : space_of(grad_output.sizes(), n);
  average_planes_backward(adaptive_windows(space_of(self.sizes(), n), space), {},
                          dense_input(grad_output, dtype), dense.tensor());
  dense.finish();
}

template <int n, SizeType Int>
std::array<BasicTensorMeta<Int>, 2> max_rule(const Tensor& self, IntArrayRef output_size) {
  const char* op = kMax<n>;
  const Space<Int> space = output_space<n, Int>(op, self, plain<Int>(output_size));
  check_pooled<n, Int>(op, self);
  computed_in_float(op, self.dtype());
  const SizeVector<Int> sizes = with_space<Int>(sizes_of<Int>(self), space, n);
  return {pool_laid_out_like<Int>(n, self, sizes, self.dtype()),
          pool_laid_out_like<Int>(n, self, sizes, DType::Int64)};
}
template <int n>
void max_kernel(const Tensor& self, IntArrayRef, const Tensor& out, const Tensor& indices) {
  if (out.numel() == 0) return;
  const DType dtype = computed_in_float(kMax<n>, self.dtype());
  const DenseOutput dense(out, dtype), dense_indices(indices, DType::Int64);
  max_pool_planes(adaptive_windows(space_of(self.sizes(), n), space_of(out.sizes(), n)),
                  dense_input(self, dtype), dense.tensor(), dense_indices.tensor());
  dense.finish();
  dense_indices.finish();
}

template <int n, SizeType Int>
BasicTensorMeta<Int> max_backward_rule(const Tensor& grad_output, const Tensor& self,
                                       const Tensor& indices) {
  const char* op = kMaxBackward<n>;
  check_pooled<n, Int>(op, grad_output);
  const Space<Int> space = output_space<n, Int>(op, self, sizes_of<Int>(grad_output).last(n));
  check_dtype(op, "grad_output", grad_output, self.dtype());
  check_dtype(op, "indices", indices, DType::Int64);
  check_sizes<Int>(op, "grad_output", grad_output, with_space<Int>(sizes_of<Int>(self), space, n));
  check_sizes<Int>(op, "indices", indices, sizes_of<Int>(grad_output));
  computed_in_float(op, self.dtype());
  return pool_laid_out_like<Int>(n, self, sizes_of<Int>(self), self.dtype());
}
template <int n>
void max_backward_kernel(const Tensor& grad_output, const Tensor& self, const Tensor& indices,
                         const Tensor& grad_input) {
  max_backward(kMaxBackward<n>, grad_output, self, indices, grad_input, n);
}

// The mean of each plane, laid out as self is.
template <int n, SizeType Int>
Tensor mean_of_planes(const Tensor& self) {
  constexpr int64_t space[] = {-1, -2, -3};
  const Tensor result = mean_dim(self, IntArrayRef(space).first(n), true, std::nullopt);
  if (n == 3 || suggest_memory_format(self) != MemoryFormat::ChannelsLast) return result;
  const Int& channels = sizes_of<Int>(self)[1];
  const Int strides[] = {channels, Int(1), channels, channels};
  return as_strided(result, sizes_of<Int>(result), SizesRef<Int>(strides, 4), std::nullopt);
}

// Where the result is one element for each plane it is the mean, with what `mean` accepts.
template <int n, auto& general, class List>
Tensor avg_composite(const Tensor& self, List output_size) {
  check_defined(kAverage<n>, self);
  SB_CHECK(output_size.size() == n, kAverage<n>, ": output_size: expected ", n, " elements, got ",
           shape_text(output_size));
  if (!std::all_of(output_size.begin(), output_size.end(),
                   [](const auto& s) { return is_one(s); })) {
    return general(self, output_size);
  }
  return by_size(self.is_symbolic(), [&]<class Int>() { return mean_of_planes<n, Int>(self); });
}

template <auto& as_2d>
Tensor avg_1d(const Tensor& self, IntArrayRef output_size) {
  check_rank_1d("adaptive_avg_pool1d", self);
  const int64_t sizes[] = {1, one_int("adaptive_avg_pool1d", "output_size", output_size)};
  return squeeze_dim(as_2d(unsqueeze(self, -2), sizes), -2);
}
std::tuple<Tensor, Tensor> max_1d(const Tensor& self, IntArrayRef output_size) {
  check_rank_1d("adaptive_max_pool1d", self);
  const int64_t sizes[] = {1, one_int("adaptive_max_pool1d", "output_size", output_size)};
  const auto [values, indices] = adaptive_max_pool2d(unsqueeze(self, -2), sizes);
  return {squeeze_dim(values, -2), squeeze_dim(indices, -2)};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, adaptive_avg_pool1d)
      .composed(&avg_1d<adaptive_avg_pool2d>)
      .out("out", {.dtype = OutDType::Exact, .key = DispatchKey::CompositeExplicitAutograd});
  define(m, adaptive_avg_pool2d).composed(&avg_composite<2, _adaptive_avg_pool2d, SymIntArrayRef>);
  define(m, adaptive_avg_pool3d).composed(&avg_composite<3, _adaptive_avg_pool3d, SymIntArrayRef>);
  define(m, adaptive_max_pool1d).composed(&max_1d);

  constexpr auto avg_rule_2d =
      by_size_rule<avg_rule<2, SymIntArrayRef, int64_t>, avg_rule<2, SymIntArrayRef, SymInt>>;
  constexpr auto avg_rule_3d =
      by_size_rule<avg_rule<3, SymIntArrayRef, int64_t>, avg_rule<3, SymIntArrayRef, SymInt>>;
  constexpr auto avg_backward_rule_2d =
      by_size_rule<avg_backward_rule<2, int64_t>, avg_backward_rule<2, SymInt>>;
  constexpr auto avg_backward_rule_3d =
      by_size_rule<avg_backward_rule<3, int64_t>, avg_backward_rule<3, SymInt>>;
  define_restrided_out<adaptive_avg_pool2d, avg_rule_2d, avg_kernel<2, SymIntArrayRef>>(
      m, adaptive_avg_pool2d_out);
  define(m, adaptive_avg_pool3d_out).structured<avg_rule_3d, avg_kernel<3, SymIntArrayRef>>();
  define(m, _adaptive_avg_pool2d)
      .structured<avg_rule_2d, avg_kernel<2, SymIntArrayRef>>()
      .out(_adaptive_avg_pool2d_out, kCopiedOut);
  define(m, _adaptive_avg_pool3d)
      .structured<avg_rule_3d, avg_kernel<3, SymIntArrayRef>>()
      .out(_adaptive_avg_pool3d_out, kCopiedOut);
  define(m, _adaptive_avg_pool2d_backward)
      .structured<avg_backward_rule_2d, avg_backward_kernel<2>>()
      .out(_adaptive_avg_pool2d_backward_out, kCopiedOut);
  define(m, _adaptive_avg_pool3d_backward)
      .structured<avg_backward_rule_3d, avg_backward_kernel<3>>()
      .out(_adaptive_avg_pool3d_backward_out, kCopiedOut);
  define(m, adaptive_avg_pool3d_backward_grad_input)
      .structured<avg_backward_rule_3d, avg_backward_kernel<3>>();

  define(m, adaptive_max_pool2d)
      .structured<by_size_rule<max_rule<2, int64_t>, max_rule<2, SymInt>>, max_kernel<2>>()
      .out(adaptive_max_pool2d_out);
  define(m, adaptive_max_pool3d)
      .structured<by_size_rule<max_rule<3, int64_t>, max_rule<3, SymInt>>, max_kernel<3>>()
      .out(adaptive_max_pool3d_out);
  define(m, adaptive_max_pool2d_backward)
      .structured<by_size_rule<max_backward_rule<2, int64_t>, max_backward_rule<2, SymInt>>,
                  max_backward_kernel<2>>()
      .out(adaptive_max_pool2d_backward_out);
  define(m, adaptive_max_pool3d_backward)
      .structured<by_size_rule<max_backward_rule<3, int64_t>, max_backward_rule<3, SymInt>>,
                  max_backward_kernel<3>>()
      .out(adaptive_max_pool3d_backward_out);
}

}  // namespace sb
