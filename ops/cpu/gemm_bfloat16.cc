// Products of bfloat16 by the instruction that multiplies pairs of them and adds to float32.

// GCC 12 takes the undefined operands of its own AVX-512 intrinsics for uninitialised variables.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <algorithm>
#include <cstring>
#include <utility>

#include "switchboard/ops/cpu/gemm_kernels.h"
#include "switchboard/ops/cpu/transpose.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace sb {
namespace {

#if defined(__AVX512F__)

constexpr int64_t kLanes = 16;
constexpr int kVectors = 3;
constexpr int64_t kRows = kVectors * kLanes;  // of a panel
constexpr int kColumns = 8;
// As many columns of b are rearranged at a time, where they must be.
constexpr int64_t kPackedColumns = 256;

// As one word, the elements of two neighbouring columns of `a` in a row, or of two neighbouring
// rows of b in a column.
using Pair = uint32_t;

// f(0), f(1), ... with constants: a loop that is unrolled, so that an array stays in registers.
constexpr auto for_each =
    []<size_t... i>(std::index_sequence<i...>, const auto& f) __attribute__((always_inline)) {
  (f(std::integral_constant<size_t, i>()), ...);
};

// sums + the dot products of the pairs in `left` with those in `right`. Spelled out, as the files
// for this capability are not compiled for machines that all have the instruction.
inline __m512 add_products(__m512 sums, __m512i left, __m512i right) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(left), "v"(right));
  return sums;
}

const uint16_t* at(const MatrixRef& m, int64_t row, int64_t column) {
  return static_cast<const uint16_t*>(m.data) + row * m.row_stride + column * m.col_stride;
}

// Transposes elements of `bytes` bytes: `to` gets `columns` rows of `to_stride` bytes.
void transpose(size_t index, char* to, int64_t to_stride, const void* from, int64_t from_stride,
               int64_t rows, int64_t columns) {
  if (rows == 0 || columns == 0) return;
  (*transpose_kernel)[index](
      {to, to_stride, static_cast<const char*>(from), from_stride, rows, columns, false});
}

// Rows [from, from + kRows) of a as pairs, those of a pair of columns next to each other; zeros
// below the last row and behind the last column.
void pack_rows(const MatrixRef& a, int64_t from, Pair* to) {
  const int64_t rows = std::min(kRows, a.rows - from), pairs = a.cols / 2;
  if (rows < kRows)
    std::memset(to, 0, static_cast<size_t>((a.cols + 1) / 2 * kRows) * sizeof(Pair));
  if (is_col_major(a)) {
    for (int64_t p = 0; p < pairs; ++p) {
      const uint16_t* const first = at(a, from, 2 * p);
      const uint16_t* const second = at(a, from, 2 * p + 1);
      Pair* const out = to + p * kRows;
      for (int64_t r = 0; r < rows; ++r) out[r] = first[r] | static_cast<Pair>(second[r]) << 16;
    }
  } else {
    constexpr size_t kFourBytes = 2;
    transpose(kFourBytes, reinterpret_cast<char*>(to), kRows * 4, at(a, from, 0), a.row_stride * 2,
              rows, pairs);
  }
  if (a.cols % 2 == 1) {
    for (int64_t r = 0; r < rows; ++r) to[pairs * kRows + r] = *at(a, from + r, a.cols - 1);
  }
}

// Columns [from, from + columns) of b, column by column, each of `pairs` pairs.
void pack_columns(const MatrixRef& b, int64_t from, int64_t columns, int64_t pairs, Pair* to) {
  const int64_t column_bytes = pairs * static_cast<int64_t>(sizeof(Pair));
  char* const out = reinterpret_cast<char*>(to);
  if (b.rows % 2 == 1) {
    for (int64_t j = 0; j < columns; ++j) to[(j + 1) * pairs - 1] = 0;
  }
  if (is_col_major(b)) {
    for (int64_t j = 0; j < columns; ++j) {
      std::memcpy(out + j * column_bytes, at(b, 0, from + j), static_cast<size_t>(b.rows) * 2);
    }
  } else {
    constexpr size_t kTwoBytes = 1;
    transpose(kTwoBytes, out, column_bytes, at(b, 0, from), b.row_stride * 2, b.rows, columns);
  }
}

struct Factors {
  float alpha;
  float beta;
};

void store(__m512 sums, const Factors& f, float* out, int64_t rows) {
  const auto mask =
      static_cast<__mmask16>(rows >= kLanes ? 0xffff : (1 << std::max<int64_t>(rows, 0)) - 1);
  sums = _mm512_mul_ps(sums, _mm512_set1_ps(f.alpha));
  if (f.beta != 0) {
    sums = _mm512_fmadd_ps(_mm512_set1_ps(f.beta), _mm512_maskz_loadu_ps(mask, out), sums);
  }
  _mm512_mask_storeu_ps(out, mask, sums);
}

// n columns of a panel of c, at `out`: `left` is packed, the columns of `right` lie right_stride
// pairs apart.
template <int n>
void multiply(const Factors& f, const Pair* left, const Pair* right, int64_t right_stride,
              int64_t pairs, float* out, int64_t out_stride, int64_t rows) {
  constexpr auto columns = std::make_index_sequence<static_cast<size_t>(n)>();
  constexpr auto vectors = std::make_index_sequence<static_cast<size_t>(kVectors)>();
  __m512 sums[n][kVectors];
  for_each(
      columns, [&](auto j) __attribute__((always_inline)) {
        for_each(
            vectors, [&](auto v)
                         __attribute__((always_inline)) { sums[j()][v()] = _mm512_setzero_ps(); });
      });
  for (int64_t p = 0; p < pairs; ++p, left += kRows) {
    __m512i panel[kVectors];
    for_each(
        vectors, [&](auto v) __attribute__((always_inline)) {
          panel[v()] = _mm512_loadu_si512(left + static_cast<int64_t>(v()) * kLanes);
        });
    for_each(
        columns, [&](auto j) __attribute__((always_inline)) {
          int32_t pair;
          std::memcpy(&pair, right + static_cast<int64_t>(j()) * right_stride + p, sizeof(pair));
          const __m512i factor = _mm512_set1_epi32(pair);
          for_each(
              vectors, [&](auto v) __attribute__((always_inline)) {
                sums[j()][v()] = add_products(sums[j()][v()], panel[v()], factor);
              });
        });
  }
  for_each(
      columns, [&](auto j) __attribute__((always_inline)) {
        for_each(
            vectors, [&](auto v) __attribute__((always_inline)) {
              const int64_t from = static_cast<int64_t>(v()) * kLanes;
              store(sums[j()][v()], f, out + static_cast<int64_t>(j()) * out_stride + from,
                    rows - from);
            });
      });
}
template <size_t... n>
constexpr auto multiply_by_columns(std::index_sequence<n...>) {
  using Function = void (*)(const Factors&, const Pair*, const Pair*, int64_t, int64_t, float*,
                            int64_t, int64_t);
  struct Table {
    Function of[sizeof...(n)];
  };
  return Table{{&multiply<static_cast<int>(n) + 1>...}};
}

// A column: the dot products of four rows at a time with it.
template <int n>
void multiply_rows(const Factors& f, const MatrixRef& a, int64_t row, const uint16_t* right,
                   float* out) {
  constexpr int64_t kNumbers = 2 * kLanes;
  __m512 sums[n];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (int64_t k = 0; k < a.cols; k += kNumbers) {
    const int64_t left = std::min(kNumbers, a.cols - k);
    const auto mask =
        static_cast<__mmask32>(left == kNumbers ? ~uint32_t{0} : (uint32_t{1} << left) - 1);
    const __m512i factors = _mm512_maskz_loadu_epi16(mask, right + k);
    for (int i = 0; i < n; ++i)
      sums[i] = add_products(sums[i], _mm512_maskz_loadu_epi16(mask, at(a, row + i, k)), factors);
  }
  for (int i = 0; i < n; ++i) {
    const float sum = f.alpha * _mm512_reduce_add_ps(sums[i]);
    out[i] = f.beta == 0 ? sum : sum + f.beta * out[i];
  }
}
void matrix_times_vector(const Factors& f, const MatrixRef& a, const MatrixRef& b,
                         const MatrixRef& c) {
  const auto* const right = static_cast<const uint16_t*>(b.data);
  auto* const out = static_cast<float*>(c.data);
  constexpr int kAtOnce = 4;
  int64_t row = 0;
  for (; row + kAtOnce <= c.rows; row += kAtOnce)
    multiply_rows<kAtOnce>(f, a, row, right, out + row);
  for (; row < c.rows; ++row) multiply_rows<1>(f, a, row, right, out + row);
}

void scale(float beta, const MatrixRef& c) {
  for (int64_t j = 0; j < c.cols; ++j) {
    float* const out = static_cast<float*>(c.data) + j * c.col_stride;
    for (int64_t i = 0; i < c.rows; ++i) out[i] = beta == 0 ? 0 : beta * out[i];
  }
}

// Without memory.
void one_by_one(const Factors& f, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c) {
  const auto number = [](uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  };
  for (int64_t j = 0; j < c.cols; ++j) {
    for (int64_t i = 0; i < c.rows; ++i) {
      float sum = 0;
      for (int64_t k = 0; k < a.cols; ++k) sum += number(*at(a, i, k)) * number(*at(b, k, j));
      float* const out = static_cast<float*>(c.data) + i + j * c.col_stride;
      *out = f.alpha * sum + (f.beta == 0 ? 0 : f.beta * *out);
    }
  }
}

void product(const void* alpha, const MatrixRef& a, const MatrixRef& b, const void* beta,
             const MatrixRef& c) {
  static constexpr auto kMultiply = multiply_by_columns(std::make_index_sequence<kColumns>());
  const Factors f{*static_cast<const float*>(alpha), *static_cast<const float*>(beta)};
  if (f.alpha == 0 || a.cols == 0) return scale(f.beta, c);
  if (c.cols == 1 && is_row_major(a)) return matrix_times_vector(f, a, b, c);
  const int64_t pairs = (a.cols + 1) / 2;
  const bool in_place = is_col_major(b) && b.rows % 2 == 0 && b.col_stride % 2 == 0 &&
                        reinterpret_cast<uintptr_t>(b.data) % sizeof(Pair) == 0;
  const int64_t block = in_place ? c.cols : std::min(c.cols, kPackedColumns);
  const int64_t numbers = (kRows + (in_place ? 0 : block)) * pairs;
  auto* const scratch =
      static_cast<Pair*>(gemm_scratch(static_cast<size_t>(numbers) * sizeof(Pair)));
  if (!scratch) return one_by_one(f, a, b, c);
  Pair* const packed_columns = scratch + kRows * pairs;
  for (int64_t first = 0; first < c.cols; first += block) {
    const int64_t columns = std::min(block, c.cols - first);
    const Pair* right = packed_columns;
    int64_t right_stride = pairs;
    if (in_place) {
      right = reinterpret_cast<const Pair*>(at(b, 0, first));
      right_stride = b.col_stride / 2;
    } else {
      pack_columns(b, first, columns, pairs, packed_columns);
    }
    for (int64_t row = 0; row < c.rows; row += kRows) {
      pack_rows(a, row, scratch);
      float* const out = static_cast<float*>(c.data) + row + first * c.col_stride;
      for (int64_t j = 0; j < columns; j += kColumns) {
        const int64_t n = std::min<int64_t>(kColumns, columns - j);
        kMultiply.of[n - 1](f, scratch, right + j * right_stride, right_stride, pairs,
                            out + j * c.col_stride, c.col_stride, c.rows - row);
      }
    }
  }
}

constexpr GemmKernels kKernels = {&product, nullptr};
#else
constexpr GemmKernels kKernels = {nullptr, nullptr};
#endif

}  // namespace

SB_CPU_KERNEL(GemmKernels, gemm_bfloat16_kernels, kKernels);

}  // namespace sb
