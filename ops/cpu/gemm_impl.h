// Eigen's matrix product on memory. Only for the gemm_*.cc files, which are compiled for each CPU
// capability.

#ifndef SWITCHBOARD_OPS_CPU_GEMM_IMPL_H_
#define SWITCHBOARD_OPS_CPU_GEMM_IMPL_H_

// GCC 12 takes the undefined operands of its own AVX-512 intrinsics for uninitialised variables.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <algorithm>
#include <complex>
#include <memory>
#include <new>

#include "Eigen/Core"
#include "switchboard/ops/cpu/gemm_kernels.h"

namespace sb::internal {

template <class T, int order>
using DenseMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, order>;
template <class T, int order>
using MatrixMap =
    Eigen::Map<DenseMatrix<T, order>, Eigen::Unaligned, Eigen::OuterStride<Eigen::Dynamic>>;
template <class T>
using StridedMap = Eigen::Map<DenseMatrix<T, Eigen::ColMajor>, Eigen::Unaligned,
                              Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
template <class T>
using ColumnMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

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

template <class T>
void scale(const MatrixRef& c, T beta) {
  auto result = map_as<T, Eigen::ColMajor>(c);
  if (beta == T(0))
    result.setZero();
  else if (beta != T(1))
    result *= beta;
}

// As many blocks of `height` rows as there are from row `from` on; returns the row behind them.
template <class T, int height>
int64_t tiny_rows(int64_t from, T alpha, const MatrixRef& a, const MatrixRef& b, T beta,
                  const MatrixRef& c) {
  using Block = Eigen::Array<T, height, 1>;
  const T* const lhs = static_cast<const T*>(a.data);
  const T* const rhs = static_cast<const T*>(b.data);
  for (; from + height <= c.rows; from += height) {
    for (int64_t j = 0; j < c.cols; ++j) {
      Block sum = Block::Zero();
      for (int64_t i = 0; i < a.cols; ++i) {
        sum += Eigen::Map<const Block>(lhs + from + i * a.col_stride) *
               rhs[i * b.row_stride + j * b.col_stride];
      }
      Eigen::Map<Block> out(static_cast<T*>(c.data) + from + j * c.col_stride);
      if (alpha != T(1)) sum *= alpha;
      if (beta != T(0)) sum += beta * out;
      out = sum;
    }
  }
  return from;
}

// Without the blocks that large matrices need: `a` is column-major, b has any strides.
template <class T>
void unblocked_product(T alpha, const MatrixRef& a, const MatrixRef& b, T beta,
                       const MatrixRef& c) {
  int64_t from = tiny_rows<T, 16>(0, alpha, a, b, beta, c);
  from = tiny_rows<T, 8>(from, alpha, a, b, beta, c);
  from = tiny_rows<T, 4>(from, alpha, a, b, beta, c);
  tiny_rows<T, 1>(from, alpha, a, b, beta, c);
}

template <class T>
void tiny_product(T alpha, const MatrixRef& a, const MatrixRef& b, T beta, const MatrixRef& c) {
  if (is_col_major(a)) return unblocked_product(alpha, a, b, beta, c);
  T copy[16 * 16];
  const MatrixRef lhs = {copy, a.rows, a.cols, 1, a.rows};
  map_as<T, Eigen::ColMajor>(lhs) = map_strided<T>(a);
  unblocked_product(alpha, lhs, b, beta, c);
}

template <class T>
void matrix_times_vector(T alpha, const MatrixRef& a, const MatrixRef& b, T beta,
                         const MatrixRef& c) {
  const ColumnMap<T> x(static_cast<T*>(b.data), b.rows);
  ColumnMap<T> y(static_cast<T*>(c.data), c.rows);
  scale(c, beta);
  if (is_row_major(a))
    y.noalias() += alpha * map_as<T, Eigen::RowMajor>(a) * x;
  else
    y.noalias() += alpha * map_as<T, Eigen::ColMajor>(a) * x;
}

// How much of the operands is packed at once. Eigen's own choice goes by the caches of the machine,
// and results would go with it (and it keeps what it found in a variable that a kernel may not
// have).
template <class T>
class Blocking : public Eigen::internal::level3_blocking<T, T> {
 public:
  Blocking(const MatrixRef& c, int64_t depth) {
    constexpr int64_t kDepth = 256;
    constexpr int64_t kLhsBytes = 512 * 1024;
    constexpr int64_t kRows = 48;  // multiples of what the kernel of any type takes at once
    const int64_t parts = (depth - 1) / kDepth + 1;
    this->m_kc = std::min(depth, ((depth - 1) / parts / 8 + 1) * 8);
    const int64_t mc = kLhsBytes / static_cast<int64_t>(sizeof(T)) / this->m_kc / kRows * kRows;
    this->m_mc = std::min(c.rows, mc);
    this->m_nc = std::min<int64_t>(c.cols, 512);
    const int64_t lhs = (this->m_mc * this->m_kc + 63) / 64 * 64;
    this->m_blockA = static_cast<T*>(
        gemm_scratch(static_cast<size_t>(lhs + this->m_kc * this->m_nc) * sizeof(T)));
    if (this->m_blockA) this->m_blockB = this->m_blockA + lhs;
  }
  bool has_memory() const { return this->m_blockA != nullptr; }
};

// Needs no memory.
template <class T>
void row_by_row(T alpha, const MatrixRef& a, const MatrixRef& b, T beta, const MatrixRef& c) {
  MatrixRef row = a;
  MatrixRef out = c;
  row.rows = out.rows = 1;
  for (int64_t i = 0; i < c.rows; ++i) {
    row.data = static_cast<T*>(a.data) + i * a.row_stride;
    out.data = static_cast<T*>(c.data) + i;
    tiny_rows<T, 1>(0, alpha, row, b, beta, out);
  }
}

template <class T, int a_order, int b_order>
void blocked_product(T alpha, const MatrixRef& a, const MatrixRef& b, T beta, const MatrixRef& c) {
  Blocking<T> blocks(c, a.cols);
  // Slow is better than half done.
  if (!blocks.has_memory()) return row_by_row<T>(alpha, a, b, beta, c);
  scale(c, beta);
  const auto outer = [](const MatrixRef& m, int order) {
    return order == Eigen::ColMajor ? m.col_stride : m.row_stride;
  };
  Eigen::internal::general_matrix_matrix_product<
      int64_t, T, a_order, false, T, b_order, false, Eigen::ColMajor,
      1>::run(c.rows, c.cols, a.cols, static_cast<const T*>(a.data), outer(a, a_order),
              static_cast<const T*>(b.data), outer(b, b_order), static_cast<T*>(c.data), 1,
              c.col_stride, alpha, blocks, nullptr);
}

template <class T>
void blocked_real_product(T alpha, const MatrixRef& a, const MatrixRef& b, T beta,
                          const MatrixRef& c) {
  constexpr int kCol = Eigen::ColMajor;
  constexpr int kRow = Eigen::RowMajor;
  if (is_col_major(a)) {
    is_col_major(b) ? blocked_product<T, kCol, kCol>(alpha, a, b, beta, c)
                    : blocked_product<T, kCol, kRow>(alpha, a, b, beta, c);
  } else {
    is_col_major(b) ? blocked_product<T, kRow, kCol>(alpha, a, b, beta, c)
                    : blocked_product<T, kRow, kRow>(alpha, a, b, beta, c);
  }
}

// The parts of a matrix of complex numbers, each column-major without gaps.
template <class R>
struct Parts {
  MatrixRef real, imaginary;

  // In `memory` for 2 * rows * cols numbers, which it moves behind them.
  Parts(int64_t rows, int64_t cols, R** memory) {
    real = {*memory, rows, cols, 1, rows};
    imaginary = {*memory + rows * cols, rows, cols, 1, rows};
    *memory += 2 * rows * cols;
  }
  void read(const MatrixRef& m) {
    R* re = static_cast<R*>(real.data);
    R* im = static_cast<R*>(imaginary.data);
    for (int64_t j = 0; j < m.cols; ++j, re += m.rows, im += m.rows) {
      const R* from = static_cast<const R*>(m.data) + 2 * j * m.col_stride;
      if (m.row_stride == 1) {
        for (int64_t i = 0; i < m.rows; ++i) {
          re[i] = from[2 * i];
          im[i] = from[2 * i + 1];
        }
      } else {
        for (int64_t i = 0; i < m.rows; ++i, from += 2 * m.row_stride) {
          re[i] = from[0];
          im[i] = from[1];
        }
      }
    }
  }
};

// Complex numbers, as four products of their parts: Eigen's own multiplies vectors of pairs, in
// half the speed.
template <class R>
void blocked_complex_product(std::complex<R> alpha, const MatrixRef& a, const MatrixRef& b,
                             std::complex<R> beta, const MatrixRef& c) {
  using T = std::complex<R>;
  constexpr int kCol = Eigen::ColMajor;
  const auto numel = [](const MatrixRef& m) { return static_cast<size_t>(m.rows * m.cols); };
  const std::unique_ptr<R[]> memory(new (std::nothrow) R[2 * (numel(a) + numel(b) + numel(c))]);
  if (!memory) return row_by_row<T>(alpha, a, b, beta, c);
  R* next = memory.get();
  Parts<R> lhs(a.rows, a.cols, &next), rhs(b.rows, b.cols, &next), sum(c.rows, c.cols, &next);
  lhs.read(a);
  rhs.read(b);
  blocked_product<R, kCol, kCol>(R(1), lhs.real, rhs.real, R(0), sum.real);
  blocked_product<R, kCol, kCol>(R(-1), lhs.imaginary, rhs.imaginary, R(1), sum.real);
  blocked_product<R, kCol, kCol>(R(1), lhs.real, rhs.imaginary, R(0), sum.imaginary);
  blocked_product<R, kCol, kCol>(R(1), lhs.imaginary, rhs.real, R(1), sum.imaginary);
  for (int64_t j = 0; j < c.cols; ++j) {
    T* const out = static_cast<T*>(c.data) + j * c.col_stride;
    const R* const re = static_cast<const R*>(sum.real.data) + j * c.rows;
    const R* const im = static_cast<const R*>(sum.imaginary.data) + j * c.rows;
    if (alpha == T(1) && beta == T(0)) {
      for (int64_t i = 0; i < c.rows; ++i) out[i] = T(re[i], im[i]);
    } else {
      for (int64_t i = 0; i < c.rows; ++i) {
        const T scaled = alpha * T(re[i], im[i]);
        out[i] = beta == T(0) ? scaled : beta * out[i] + scaled;
      }
    }
  }
}

template <class T>
void product(const void* alpha_value, const MatrixRef& a, const MatrixRef& b,
             const void* beta_value, const MatrixRef& c) {
  const T alpha = *static_cast<const T*>(alpha_value);
  const T beta = *static_cast<const T*>(beta_value);
  if (alpha == T(0) || a.cols == 0) return scale(c, beta);
  if (is_tiny_product(a.rows, a.cols, b.cols)) return tiny_product(alpha, a, b, beta, c);
  if (c.cols == 1) return matrix_times_vector(alpha, a, b, beta, c);
  if constexpr (Eigen::NumTraits<T>::IsComplex)
    blocked_complex_product(alpha, a, b, beta, c);
  else
    blocked_real_product(alpha, a, b, beta, c);
}

template <class T>
void dot(const void* a, int64_t a_stride, const void* b, int64_t b_stride, int64_t n, void* sum) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T total(0);
  if (a_stride == 1 && b_stride == 1) {
    using Vector = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
    if (n != 0) total = (Vector(x, n) * Vector(y, n)).sum();
  } else {
    for (int64_t i = 0; i < n; ++i) total += x[i * a_stride] * y[i * b_stride];
  }
  *static_cast<T*>(sum) = total;
}

template <class T>
constexpr GemmKernels gemm_kernels_of() {
  return {&product<T>, &dot<T>};
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_CPU_GEMM_IMPL_H_
