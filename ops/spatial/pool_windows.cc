#include "switchboard/ops/spatial/pool_windows.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"

namespace sb::spatial {
namespace {

// How often a step fits in the room, 0 or less where there is none.
int64_t places(int64_t room, int64_t step) { return room < 0 ? 0 : room / step + 1; }
SymInt places(const SymInt& room, int64_t step) { return sym_floor_div(room, step) + 1; }

// In ceil mode the last window may hang over the end, but begins before `end`: in the input or the
// padding before it.
int64_t without_last(int64_t size, int64_t stride, int64_t end) {
  return size > 0 && (size - 1) * stride >= end ? size - 1 : size;
}
// To ask which it is would tie the program to the answer.
SymInt without_last(const SymInt& size, int64_t stride, const SymInt& end) {
  return size - sym_int((size - 1) * stride >= end);
}

// How many windows fit: 0 or less where none does.
template <SizeType Int>
Int pooled_size(const BasicPoolShape<Int>& s, size_t d, bool ceil_mode) {
  const Int padded = sum_of(s.input[d], Int(checked_mul(2, s.padding[d])));
  const int64_t reach = checked_add(checked_mul(s.dilation[d], s.kernel[d] - 1), 1);
  const Int room = sum_of(padded - reach, Int(ceil_mode ? s.stride[d] - 1 : 0));
  const Int size = places(room, s.stride[d]);
  return ceil_mode ? without_last(size, s.stride[d], s.input[d] + s.padding[d]) : size;
}

}  // namespace

template <SizeType Int>
BasicPoolShape<Int> pool_shape(std::string_view op, SizesRef<Int> self_sizes, int dims,
                               IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                               IntArrayRef dilation, bool ceil_mode) {
  BasicPoolShape<Int> s;
  s.input = space_of<Int>(self_sizes, dims);
  s.kernel = list_argument(op, "kernel_size", kernel_size, dims);
  s.stride = list_argument(op, "stride", stride, dims, s.kernel);
  s.padding = list_argument(op, "padding", padding, dims);
  s.dilation = list_argument(op, "dilation", dilation, dims);
  for (size_t d = 0; d < 3 - static_cast<size_t>(dims); ++d) {
    s.kernel[d] = s.stride[d] = s.dilation[d] = 1;
    s.padding[d] = 0;
  }
  s.output = {Int(1), Int(1), Int(1)};
  for (size_t d = 3 - static_cast<size_t>(dims); d < 3; ++d) {
    SB_CHECK(s.kernel[d] > 0 && s.stride[d] > 0 && s.dilation[d] > 0, op,
             ": expected kernel_size, stride and dilation greater than 0, got ",
             shape_text(kernel_size), ", ", shape_text(stride), " and ", shape_text(dilation));
    SB_CHECK(s.padding[d] >= 0 && s.padding[d] <= s.kernel[d] / 2, op,
             ": padding: expected at least 0 and at most half the kernel_size of ",
             shape_text(kernel_size), ", got ", shape_text(padding));
    s.output[d] = pooled_size(s, d, ceil_mode);
    SB_CHECK(s.output[d] >= 1, op, ": the input of ", shape_text(self_sizes),
             " is too small for kernel_size ", shape_text(kernel_size), ", padding ",
             shape_text(padding), " and dilation ", shape_text(dilation));
  }
  return s;
}

template PoolShape pool_shape<int64_t>(std::string_view, IntArrayRef, int, IntArrayRef, IntArrayRef,
                                       IntArrayRef, IntArrayRef, bool);
template BasicPoolShape<SymInt> pool_shape<SymInt>(std::string_view, SymIntArrayRef, int,
                                                   IntArrayRef, IntArrayRef, IntArrayRef,
                                                   IntArrayRef, bool);

PoolWindows pool_windows(const PoolShape& s) {
  PoolWindows w{s.input, s.output, {}};
  for (size_t d = 0; d < 3; ++d) {
    WindowRow& row = w.rows[d];
    row.step = s.dilation[d];
    for (int64_t o = 0; o < s.output[d]; ++o) {
      int64_t start = o * s.stride[d] - s.padding[d];
      const int64_t end = checked_add(start, (s.kernel[d] - 1) * s.dilation[d] + 1);
      row.padded.push_back(std::min(end, s.input[d] + s.padding[d]) - start);
      if (start < 0) start += (-start + row.step - 1) / row.step * row.step;
      row.start.push_back(start);
      row.end.push_back(std::min(end, s.input[d]));
    }
  }
  return w;
}

PoolWindows adaptive_windows(const Size3& input, const Size3& output) {
  PoolWindows w{input, output, {}};
  for (size_t d = 0; d < 3; ++d) {
    const int64_t in = input[d], out = output[d];
    // floor(o * in / out), without the product.
    const auto at = [&](int64_t o) { return o / out * in + o % out * in / out; };
    for (int64_t o = 0; o < out; ++o) {
      w.rows[d].start.push_back(at(o));
      w.rows[d].end.push_back(1 + ((o + 1) * in - 1) / out);
      w.rows[d].padded.push_back(w.rows[d].end.back() - w.rows[d].start.back());
    }
  }
  return w;
}

}  // namespace sb::spatial
