#include "switchboard/ops/linalg/triangles/triangle_block.h"

#include <algorithm>

#include "Eigen/Core"

namespace sb::internal {
namespace {

// Of several columns side by side, so that one need not wait for the other.
constexpr int kAtOnce = 8;
constexpr int kBlock = static_cast<int>(kTriangleBlock);

// Always in whole vectors: outside of the triangle and beyond n there are zeros. What they add to
// an unknown that is already solved is not read.
template <class T>
void solve(const TriangleBlock<T>& block) {
  const int64_t n = block.n;
  Eigen::Array<T, kBlock, kBlock> factor;
  Eigen::Array<T, kBlock, 1> inverse;
  factor.setZero();
  inverse.setOnes();
  for (int64_t c = 0; c < n; ++c) {
    const T* const column = block.a + c * block.col_step;
    const int64_t from = block.upper ? 0 : c + 1, to = block.upper ? c : n;
    for (int64_t r = from; r < to; ++r) factor(r, c) = column[r * block.row_step];
    if (!block.unit) inverse(c) = T(1) / column[c * block.row_step];
  }
  for (int64_t j = 0; j < block.columns; j += kAtOnce) {
    const int64_t count = std::min<int64_t>(kAtOnce, block.columns - j);
    T* const x = block.x + j * block.x_leading;
    Eigen::Array<T, kBlock, kAtOnce> rest, solved;
    rest.setZero();
    for (int64_t c = 0; c < count; ++c)
      std::copy_n(x + c * block.x_leading, n, rest.data() + c * kBlock);
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = block.upper ? n - 1 - step : step;
      for (int c = 0; c < kAtOnce; ++c) {
        const T value = rest(i, c) * inverse(i);
        solved(i, c) = value;
        rest.col(c) -= factor.col(i) * value;
      }
    }
    for (int64_t c = 0; c < count; ++c)
      std::copy_n(solved.data() + c * kBlock, n, x + c * block.x_leading);
  }
}

}  // namespace

SB_CPU_KERNEL(SolveTriangleBlock<float>, solve_triangle_block_float, &solve<float>);
SB_CPU_KERNEL(SolveTriangleBlock<double>, solve_triangle_block_double, &solve<double>);

}  // namespace sb::internal
