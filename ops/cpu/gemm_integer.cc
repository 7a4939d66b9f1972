// Matrix products of integers, which Eigen has no vectors for.

#include <algorithm>
#include <cstring>

#include "switchboard/ops/cpu/gemm_impl.h"

namespace sb {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// A panel of a product: kRows rows of the result.
template <class T>
class IntegerPanel {
 public:
  using Vector [[gnu::vector_size(kVectorBytes)]] = T;
  static constexpr int kVectors = 2;
  static constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));
  static constexpr int64_t kRows = kVectors * kLanes;
  static constexpr int kColumns = 4;

  // Copies rows [from, from + kRows) of a, column by column; zeros below its last row.
  static void pack(const MatrixRef& a, int64_t from, T* to) {
    const T* const data = static_cast<const T*>(a.data) + from * a.row_stride;
    const int64_t rows = std::min(kRows, a.rows - from);
    for (int64_t k = 0; k < a.cols; ++k, to += kRows) {
      const T* const column = data + k * a.col_stride;
      for (int64_t r = 0; r < rows; ++r) to[r] = column[r * a.row_stride];
      std::fill(to + rows, to + kRows, T(0));
    }
  }

  // Columns [column, column + n) of c, from row `from` on.
  template <int n>
  static void multiply(T alpha, const T* packed, const MatrixRef& b, T beta, const MatrixRef& c,
                       int64_t from, int64_t column) {
    Vector sums[n][kVectors] = {};
    const T* factors = static_cast<const T*>(b.data) + column * b.col_stride;
    for (int64_t k = 0; k < b.rows; ++k, packed += kRows, factors += b.row_stride) {
      Vector left[kVectors];
      std::memcpy(left, packed, sizeof(left));
      for (int j = 0; j < n; ++j) {
        const T factor = factors[j * b.col_stride];
        for (int v = 0; v < kVectors; ++v) sums[j][v] += left[v] * factor;
      }
    }
    const int64_t rows = std::min(kRows, c.rows - from);
    for (int j = 0; j < n; ++j) {
      T values[kRows];
      std::memcpy(values, sums[j], sizeof(values));
      T* const out = static_cast<T*>(c.data) + from + (column + j) * c.col_stride;
      for (int64_t r = 0; r < rows; ++r)
        out[r] = alpha * values[r] + (beta == T(0) ? T(0) : beta * out[r]);
    }
  }
};

template <class T>
void integer_product(const void* alpha_value, const MatrixRef& a, const MatrixRef& b,
                     const void* beta_value, const MatrixRef& c) {
  using Panel = IntegerPanel<T>;
  const T alpha = *static_cast<const T*>(alpha_value), beta = *static_cast<const T*>(beta_value);
  const bool few =
      alpha == T(0) || a.cols == 0 || c.cols == 1 || is_tiny_product(a.rows, a.cols, b.cols);
  const size_t bytes = static_cast<size_t>(Panel::kRows * a.cols) * sizeof(T);
  T* const packed = few ? nullptr : static_cast<T*>(gemm_scratch(bytes));
  if (!packed) return internal::product<T>(alpha_value, a, b, beta_value, c);
  for (int64_t from = 0; from < c.rows; from += Panel::kRows) {
    Panel::pack(a, from, packed);
    int64_t column = 0;
    for (; column + Panel::kColumns <= c.cols; column += Panel::kColumns) {
      Panel::template multiply<Panel::kColumns>(alpha, packed, b, beta, c, from, column);
    }
    for (; column < c.cols; ++column)
      Panel::template multiply<1>(alpha, packed, b, beta, c, from, column);
  }
}

}  // namespace

SB_CPU_KERNEL(GemmKernels, gemm_int32_kernels,
              {&integer_product<uint32_t>, &internal::dot<uint32_t>});
SB_CPU_KERNEL(GemmKernels, gemm_int64_kernels,
              {&integer_product<uint64_t>, &internal::dot<uint64_t>});

}  // namespace sb
