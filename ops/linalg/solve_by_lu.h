// Equations that the factors of LU solve. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_
#define SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_

#include <utility>

#include "switchboard/ops/linalg/solve_triangle.h"

namespace sb {

// Solves M X = X, or M^T X = X, in place; lu and pivots are the factors of M.
template <class T>
void solve_by_lu(Eigen::Map<ColumnMajor<T>> lu, const int32_t* pivots, bool transposed,
                 Eigen::Map<ColumnMajor<T>> x) {
  const int64_t n = x.rows();
  // Of the elements of each column in turn, which is in the cache.
  const auto exchange_rows = [&](bool backwards) {
    for (int64_t c = 0; c < x.cols(); ++c) {
      T* const column = x.data() + c * n;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t k = backwards ? n - 1 - i : i;
        std::swap(column[k], column[pivots[k] - 1]);
      }
    }
  };
  const auto solve = [&](bool lower_factor) {
    const Triangle<T> factor{lu.data(), n, transposed, /*upper=*/lower_factor == transposed,
                             /*unit=*/lower_factor};
    solve_triangle(factor, n, x.cols(), x.data(), n);
  };
  if (x.size() == 0) return;
  if (transposed) {
    solve(/*lower_factor=*/false);
    solve(/*lower_factor=*/true);
    exchange_rows(/*backwards=*/true);
  } else {
    exchange_rows(/*backwards=*/false);
    solve(/*lower_factor=*/true);
    solve(/*lower_factor=*/false);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_
