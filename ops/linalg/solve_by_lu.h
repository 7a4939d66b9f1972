// Equations that the factors of LU solve. Included by .cc files only.

#ifndef SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_
#define SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_

#include "Eigen/LU"
#include "switchboard/ops/linalg/lapack/lapack.h"
#include "switchboard/ops/linalg/matrix_batch.h"

namespace sb {

// Solves M X = X, or M^T X = X, in place; lu and pivots are the factors of M.
template <class T>
void solve_by_lu(Eigen::Map<ColumnMajor<T>> lu, const int32_t* pivots, bool transposed,
                 Eigen::Map<ColumnMajor<T>> x) {
  if (lapack::is_available()) {
    lapack::getrs(transposed, x.rows(), x.cols(), lu.data(), pivots, x.data());
    return;
  }
  const auto swap = [&](Eigen::Index k) {
    const Eigen::Index other = pivots[k] - 1;
    if (other != k) x.row(k).swap(x.row(other));
  };
  if (transposed) {
    lu.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    lu.template triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
    for (Eigen::Index k = x.rows(); k-- > 0;) swap(k);
  } else {
    for (Eigen::Index k = 0; k < x.rows(); ++k) swap(k);
    lu.template triangularView<Eigen::UnitLower>().solveInPlace(x);
    lu.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_SOLVE_BY_LU_H_
