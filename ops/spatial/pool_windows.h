// Which input elements each output of a pooling operator sees: for each dimension, a table.
//
// Ordinary, adaptive and fractional pooling differ in their tables alone.

#ifndef SWITCHBOARD_OPS_SPATIAL_POOL_WINDOWS_H_
#define SWITCHBOARD_OPS_SPATIAL_POOL_WINDOWS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "switchboard/ops/spatial/spatial.h"

namespace sb::spatial {

// The arguments of an ordinary pooling operator, for one space.
template <SizeType Int>
struct BasicPoolShape {
  Space<Int> input;
  Size3 kernel;
  Size3 stride;
  Size3 padding;
  Size3 dilation;
  Space<Int> output;  // by pool_shape
};
using PoolShape = BasicPoolShape<int64_t>;

// Reads and checks the arguments. An empty stride is the kernel's size. RuntimeError for lists of
// other lengths than 1 and `dims`, for what is not positive, padding of more than half the kernel,
// and an output without elements. As `at::native::pooling_output_shape`.
template <SizeType Int>
BasicPoolShape<Int> pool_shape(std::string_view op, SizesRef<Int> self_sizes, int dims,
                               IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                               IntArrayRef dilation, bool ceil_mode);

// The windows along one dimension. Output o sees start[o], start[o] + step, ... below end[o].
struct WindowRow {
  int64_t step = 1;
  std::vector<int64_t> start;
  std::vector<int64_t> end;
  std::vector<int64_t> padded;  // how long the window is with the padding that it lies on
};

struct PoolWindows {
  Size3 input;
  Size3 output;
  std::array<WindowRow, 3> rows;
};

PoolWindows pool_windows(const PoolShape& shape);
// Output o sees from floor(o * input / output) to ceil((o + 1) * input / output).
PoolWindows adaptive_windows(const Size3& input, const Size3& output);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_POOL_WINDOWS_H_
