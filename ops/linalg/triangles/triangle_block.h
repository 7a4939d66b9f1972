// A loop that solves equations with a small triangular matrix, for float and double.

#ifndef SWITCHBOARD_OPS_LINALG_TRIANGLES_TRIANGLE_BLOCK_H_
#define SWITCHBOARD_OPS_LINALG_TRIANGLES_TRIANGLE_BLOCK_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::internal {

inline constexpr int64_t kTriangleBlock = 16;

// A X = X for a triangle of n x n, n at most kTriangleBlock, and a column-major X.
template <class T>
struct TriangleBlock {
  const T* a;
  int64_t row_step, col_step;
  bool upper;
  bool unit;  // the diagonal is 1, and not read
  int64_t n;
  int64_t columns;
  T* x;
  int64_t x_leading;
};
template <class T>
using SolveTriangleBlock = void (*)(const TriangleBlock<T>&);

extern const CpuKernel<SolveTriangleBlock<float>> solve_triangle_block_float;
extern const CpuKernel<SolveTriangleBlock<double>> solve_triangle_block_double;

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_LINALG_TRIANGLES_TRIANGLE_BLOCK_H_
