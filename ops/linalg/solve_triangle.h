// Equations with one triangular matrix. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_SOLVE_TRIANGLE_H_
#define SWITCHBOARD_OPS_LINALG_SOLVE_TRIANGLE_H_

#include <type_traits>

#include "Eigen/Core"
#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/cpu/gemm.h"
#include "switchboard/ops/linalg/lapack/lapack.h"
#include "switchboard/ops/linalg/matrix_batch.h"
#include "switchboard/ops/linalg/triangles/triangle_block.h"

namespace sb {

// A column-major matrix, or its transposed, of which a triangle is read; of that, a diagonal of
// ones is not read either. `upper` says where the triangle lies once it is transposed.
template <class T>
struct Triangle {
  const T* data;
  int64_t leading;
  bool transposed, upper, unit;

  const T* at(int64_t row, int64_t col) const {
    return data + (transposed ? col + row * leading : row + col * leading);
  }
  Triangle from(int64_t i) const { return {at(i, i), leading, transposed, upper, unit}; }
};

// Solve A X = X in place, by a loop. By Eigen only complex ones, where there is no BLAS.
template <class T>
void solve_by_eigen(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t leading) {
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const ColumnMajor<T>, 0, Stride> stored(a.data, n, n, Stride(a.leading));
  Eigen::Map<ColumnMajor<T>, 0, Stride> solution(x, n, columns, Stride(leading));
  const auto solve = [&](const auto& matrix) {
    if (a.upper && a.unit) {
      matrix.template triangularView<Eigen::UnitUpper>().solveInPlace(solution);
    } else if (a.upper) {
      matrix.template triangularView<Eigen::Upper>().solveInPlace(solution);
    } else if (a.unit) {
      matrix.template triangularView<Eigen::UnitLower>().solveInPlace(solution);
    } else {
      matrix.template triangularView<Eigen::Lower>().solveInPlace(solution);
    }
  };
  if (a.transposed) {
    solve(stored.transpose());
  } else {
    solve(stored);
  }
}
template <class T>
void solve_small_triangle(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t leading) {
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t row_step = a.transposed ? a.leading : 1, col_step = a.transposed ? 1 : a.leading;
    const internal::TriangleBlock<T> block{a.data, row_step, col_step, a.upper, a.unit,
                                           n,      columns,  x,        leading};
    if constexpr (std::is_same_v<T, float>) {
      (*internal::solve_triangle_block_float)(block);
    } else {
      (*internal::solve_triangle_block_double)(block);
    }
  } else if (lapack::is_available()) {
    lapack::trsm(a.transposed, a.upper, a.unit, n, columns, a.data, a.leading, x, leading);
  } else {
    solve_by_eigen(a, n, columns, x, leading);
  }
}

// The same by halves, so that most of the work is a product of matrices.
template <class T>
void solve_triangle(const Triangle<T>& a, int64_t n, int64_t columns, T* x, int64_t leading) {
  constexpr int64_t kSmall = internal::kTriangleBlock;
  if (n <= kSmall) return solve_small_triangle(a, n, columns, x, leading);
  const int64_t half = (n / 2 + kSmall - 1) / kSmall * kSmall, rest = n - half;
  const MatrixRef first{x, half, columns, 1, leading}, last{x + half, rest, columns, 1, leading};
  const auto block = [&](int64_t row, int64_t col, int64_t rows, int64_t cols) {
    // Which only reads it.
    return MatrixRef{const_cast<T*>(a.at(row, col)), rows, cols, a.transposed ? a.leading : 1,
                     a.transposed ? 1 : a.leading};
  };
  if (a.upper) {
    solve_triangle(a.from(half), rest, columns, x + half, leading);
    gemm(dtype_of<T>, -1, block(0, half, half, rest), last, 1, first);
    solve_triangle(a, half, columns, x, leading);
  } else {
    solve_triangle(a, half, columns, x, leading);
    gemm(dtype_of<T>, -1, block(half, 0, rest, half), first, 1, last);
    solve_triangle(a.from(half), rest, columns, x + half, leading);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_SOLVE_TRIANGLE_H_
