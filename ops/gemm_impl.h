// Eigen's matrix product on strided memory. Only for the gemm_*.cc files.

#ifndef SWITCHBOARD_OPS_GEMM_IMPL_H_
#define SWITCHBOARD_OPS_GEMM_IMPL_H_

#include "Eigen/Core"
#include "switchboard/ops/gemm.h"

namespace sb::internal {

template <class T, int order>
using DenseMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, order>;
template <class T, int order>
using MatrixMap =
    Eigen::Map<DenseMatrix<T, order>, Eigen::Unaligned, Eigen::OuterStride<Eigen::Dynamic>>;
template <class T>
using StridedMap = Eigen::Map<DenseMatrix<T, Eigen::ColMajor>, Eigen::Unaligned,
                              Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

// The stride of a dimension with at most one element does not matter.
inline bool is_col_major(const MatrixRef& m) { return m.rows <= 1 || m.row_stride == 1; }
inline bool is_row_major(const MatrixRef& m) { return m.cols <= 1 || m.col_stride == 1; }

template <class T, int order>
MatrixMap<T, order> map_as(const MatrixRef& m) {
  return MatrixMap<T, order>(
      static_cast<T*>(m.data), m.rows, m.cols,
      Eigen::OuterStride<>(order == Eigen::ColMajor ? m.col_stride : m.row_stride));
}
template <class T>
StridedMap<T> map_strided(const MatrixRef& m) {
  return StridedMap<T>(static_cast<T*>(m.data), m.rows, m.cols,
                       Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(m.col_stride, m.row_stride));
}

// Calls f with `m` as an Eigen matrix that Eigen's kernels read where it lies; a copy where no
// dimension is contiguous.
template <class T, class F>
void with_operand(const MatrixRef& m, const F& f) {
  if (is_col_major(m)) {
    f(map_as<T, Eigen::ColMajor>(m));
  } else if (is_row_major(m)) {
    f(map_as<T, Eigen::RowMajor>(m));
  } else {
    DenseMatrix<T, Eigen::ColMajor> copy = map_strided<T>(m);
    f(map_as<T, Eigen::ColMajor>({copy.data(), m.rows, m.cols, 1, m.rows}));
  }
}

template <class T>
void gemm_of(T alpha, const MatrixRef& a, const MatrixRef& b, T beta, const MatrixRef& c) {
  if (c.rows == 0 || c.cols == 0) return;
  if (!is_col_major(c)) {
    if (is_row_major(c)) {
      gemm_of<T>(alpha, b.transposed(), a.transposed(), beta, c.transposed());
      return;
    }
    DenseMatrix<T, Eigen::ColMajor> copy(c.rows, c.cols);
    if (beta != T(0)) copy = map_strided<T>(c);
    gemm_of<T>(alpha, a, b, beta, {copy.data(), c.rows, c.cols, 1, c.rows});
    map_strided<T>(c) = copy;
    return;
  }
  auto result = map_as<T, Eigen::ColMajor>(c);
  if (beta == T(0))
    result.setZero();
  else if (beta != T(1))
    result *= beta;
  if (alpha == T(0) || a.cols == 0) return;
  with_operand<T>(a, [&](const auto& lhs) {
    with_operand<T>(b, [&](const auto& rhs) { result.noalias() += alpha * lhs * rhs; });
  });
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_GEMM_IMPL_H_
