#include "switchboard/ops/spatial/padding.h"

#include <algorithm>
#include <cstdlib>

#include "switchboard/ops/define/structured.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/spatial/taps.h"

namespace sb {
namespace {

using namespace spatial;

enum class Mode { Reflect, Replicate };

// For the d-th of n dimensions: what is added before and behind.
template <SizeType Int>
struct Pads {
  Int before;
  Int behind;
};
template <SizeType Int>
Pads<Int> pads_of(SizesRef<Int> padding, int n, int d) {
  const auto i = static_cast<size_t>(2 * (n - 1 - d));
  return {padding[i], padding[i + 1]};
}

// The result's space, after all checks.
template <SizeType Int, Mode mode, int n>
Space<Int> padded_space(const char* op, const Tensor& self, SymIntArrayRef given) {
  const SizesRef<Int> padding = sizes_as<Int>(given), sizes = sizes_of<Int>(self);
  SB_CHECK(padding.size() == 2 * n, op, ": padding: expected ", 2 * n, " elements, got ",
           shape_text(padding));
  SB_CHECK(self.dim() == n + 1 || self.dim() == n + 2, op, ": expected ", n + 1, " or ", n + 2,
           " dimensions, got ", self.describe());
  // Only reflection lets tensors of no channels through, where there is no batch.
  for (size_t d = mode == Mode::Reflect || self.dim() == n + 2; d < sizes.size(); ++d) {
    SB_CHECK(sizes[d] != 0, op, ": expected no empty dimension besides the batch, got ",
             self.describe());
  }
  Space<Int> space = {Int(1), Int(1), Int(1)};
  for (int d = 0; d < n; ++d) {
    const Int& size = sizes[sizes.size() - static_cast<size_t>(n - d)];
    const Pads<Int> pads = pads_of<Int>(padding, n, d);
    if constexpr (mode == Mode::Reflect) {
      SB_CHECK(sym_and(pads.before < size, pads.behind < size), op,
               ": padding: expected less than the ", size_text(size), " elements of dimension ", d,
               " of ", self.describe(), ", got ", shape_text(padding));
    }
    const Int padded = sum_of(sum_of(size, pads.before), pads.behind);
    SB_CHECK(padded >= 1, op, ": padding ", shape_text(padding), " leaves nothing of ",
             self.describe());
    space[static_cast<size_t>(3 - n + d)] = padded;
  }
  return space;
}

template <Mode mode, int n>
Taps taps_of(IntArrayRef sizes, IntArrayRef padding) {
  Taps taps;
  for (int d = 0; d < n; ++d) {
    TapRow& row = taps[static_cast<size_t>(3 - n + d)];
    const Pads<int64_t> pads = pads_of<int64_t>(padding, n, d);
    row.input = sizes[sizes.size() - static_cast<size_t>(n - d)];
    row.output = row.input + pads.before + pads.behind;
    row.index.clear();
    const int64_t last = row.input - 1;
    for (int64_t o = 0; o < row.output; ++o) {
      if (mode == Mode::Reflect) {
        const int64_t i = std::abs(o - pads.before);
        row.index.push_back(i > last ? 2 * last - i : i);
      } else {
        // Where more than the input is cut off, every element is its last. Padding behind may make
        // up for any such number, also for one that has no negative.
        row.index.push_back(std::clamp<int64_t>(o - std::max(pads.before, -last), 0, last));
      }
    }
  }
  return taps;
}

template <SizeType Int, Mode mode, int n>
BasicTensorMeta<Int> rule(const Tensor& self, SymIntArrayRef padding) {
  const Space<Int> space = padded_space<Int, mode, n>("pad", self, padding);
  const SizeVector<Int> sizes = with_space<Int>(sizes_of<Int>(self), space, n);
  return laid_out_like<Int>(self, SizesRef<Int>(sizes), self.dtype());
}
template <Mode mode, int n>
void kernel(const Tensor& self, SymIntArrayRef padding, const Tensor& out) {
  if (out.numel() == 0) return;  // the space may be of any size all the same
  const DenseOutput dense(out, out.dtype());
  gather_planes(taps_of<mode, n>(self.sizes(), padding.expect_ints()),
                dense_input(self, self.dtype()), dense.tensor());
  dense.finish();
}

template <SizeType Int, Mode mode, int n>
BasicTensorMeta<Int> backward_rule(const Tensor& grad_output, const Tensor& self,
                                   SymIntArrayRef padding) {
  const char* op = "pad_backward";
  // As PyTorch, which looks at the ranks first in one of them alone, and at sizes in the others.
  for (const Tensor* t : {&self, &grad_output}) {
    if (t->dim() > n) continue;
    if (mode == Mode::Reflect && n == 3)
      SB_THROW(RuntimeError, op, ": expected ", n + 1, " or ", n + 2, " dimensions, got ",
               t->describe());
    SB_THROW(IndexError, op, ": expected ", n + 1, " or ", n + 2, " dimensions, got ",
             t->describe());
  }
  const Space<Int> space = padded_space<Int, mode, n>(op, self, padding);
  const SizeVector<Int> expected = with_space<Int>(sizes_of<Int>(self), space, n);
  check_sizes<Int>(op, "grad_output", grad_output, SizesRef<Int>(expected));
  check_dtype(op, "grad_output", grad_output, self.dtype());
  computed_in(op, self.dtype());
  return laid_out_like<Int>(self, sizes_of<Int>(self), self.dtype());
}
template <Mode mode, int n>
void backward_kernel(const Tensor& grad_output, const Tensor& self, SymIntArrayRef padding,
                     const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  const DType dtype = computed_in("pad_backward", self.dtype());
  const DenseOutput dense(grad_input, dtype);
  spread_planes(taps_of<mode, n>(self.sizes(), padding.expect_ints()),
                dense_input(grad_output, dtype), dense.tensor());
  dense.finish();
}

template <Mode mode, int n, class Forward, class Backward>
void define_padding(Library& m, const Forward& forward, const Backward& backward) {
  define(m, forward)
      .template structured<by_size_rule<rule<int64_t, mode, n>, rule<SymInt, mode, n>>,
                           kernel<mode, n>>()
      .out();
  define(m, backward)
      .template structured<
          by_size_rule<backward_rule<int64_t, mode, n>, backward_rule<SymInt, mode, n>>,
          backward_kernel<mode, n>>()
      .out();
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define_padding<Mode::Reflect, 1>(m, reflection_pad1d, reflection_pad1d_backward);
  define_padding<Mode::Reflect, 2>(m, reflection_pad2d, reflection_pad2d_backward);
  define_padding<Mode::Reflect, 3>(m, reflection_pad3d, reflection_pad3d_backward);
  define_padding<Mode::Replicate, 1>(m, replication_pad1d, replication_pad1d_backward);
  define_padding<Mode::Replicate, 2>(m, replication_pad2d, replication_pad2d_backward);
  define_padding<Mode::Replicate, 3>(m, replication_pad3d, replication_pad3d_backward);
}

}  // namespace sb
