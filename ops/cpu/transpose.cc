#include "switchboard/ops/cpu/transpose.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace sb {
namespace {

constexpr size_t kLine = 64;  // bytes
// How many elements are transposed in registers at a time, and in each direction. Wider AVX2
// registers do not pay: their halves do not mix.
template <class T>
#ifdef __AVX512F__
constexpr size_t kWidth = (sizeof(T) >= 4 ? 64 : 16) / sizeof(T);
#else
constexpr size_t kWidth = 16 / sizeof(T);
#endif

// A row of n elements in a register.
template <class T, size_t n>
struct Row {
  typedef T Type [[gnu::vector_size(n * sizeof(T))]];
};

// a0 b0 a1 b1 ..., from the lower or the upper halves.
template <class V, size_t n, bool upper, size_t... I>
V interleave(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I % 2 * n + I / 2 + (upper ? n / 2 : 0))...);
}

// Transposes n by n elements, in registers. n is a power of 2: as many times as that says, rows of
// the upper and the lower half are interleaved.
template <class T, size_t n>
[[gnu::always_inline]] inline void transpose_square(T* to, size_t to_stride, const char* from,
                                                    int64_t from_stride) {
  using V = typename Row<T, n>::Type;
  V rows[n], next[n];
  for (size_t i = 0; i < n; ++i) {
    std::memcpy(&rows[i], from + static_cast<int64_t>(i) * from_stride, sizeof(V));
  }
  for (size_t step = 1; step < n; step *= 2) {
    for (size_t i = 0; i < n / 2; ++i) {
      constexpr std::make_index_sequence<n> indices;
      next[2 * i] = interleave<V, n, false>(rows[i], rows[i + n / 2], indices);
      next[2 * i + 1] = interleave<V, n, true>(rows[i], rows[i + n / 2], indices);
    }
    for (size_t i = 0; i < n; ++i) rows[i] = next[i];
  }
  for (size_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(V));
}

struct Bytes16 {
  alignas(16) char bytes[16];
};

template <bool stream>
void store_line(char* to, const void* from) {
#ifdef __SSE2__
  if constexpr (stream) {
    for (size_t i = 0; i < kLine / 16; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i,
                       _mm_load_si128(static_cast<const __m128i*>(from) + i));
    }
    return;
  }
#endif
  std::memcpy(to, from, kLine);
}

// A block of whole cache lines on both sides.
template <class T, bool stream>
void transpose_block(const Transposition& t, char* to, const char* from) {
  constexpr size_t n = kLine / sizeof(T);
  alignas(kLine) T block[n][n];
  if constexpr (sizeof(T) == 16) {
    for (size_t r = 0; r < n; ++r) {
      for (size_t c = 0; c < n; ++c) {
        std::memcpy(&block[c][r], from + static_cast<int64_t>(r) * t.from_stride + c * sizeof(T),
                    sizeof(T));
      }
    }
  } else {
    constexpr size_t w = kWidth<T>;
    for (size_t r = 0; r < n; r += w) {
      for (size_t c = 0; c < n; c += w) {
        transpose_square<T, w>(&block[c][r], n,
                               from + static_cast<int64_t>(r) * t.from_stride + c * sizeof(T),
                               t.from_stride);
      }
    }
  }
  for (size_t c = 0; c < n; ++c) {
    store_line<stream>(to + static_cast<int64_t>(c) * t.to_stride, block[c]);
  }
}

// What no whole block covers.
template <class T>
void transpose_rest(const Transposition& t, int64_t row, int64_t rows, int64_t column,
                    int64_t columns) {
  constexpr int64_t size = sizeof(T);
  for (int64_t c = column; c < column + columns; ++c) {
    char* const to = t.to + c * t.to_stride;
    const char* const from = t.from + c * size;
    for (int64_t r = row; r < row + rows; ++r) {
      std::memcpy(to + r * size, from + r * t.from_stride, sizeof(T));
    }
  }
}

template <class T, bool stream>
void transpose_tiles(const Transposition& t) {
  constexpr int64_t n = kLine / sizeof(T), size = sizeof(T);
  // A tile is some 64 KiB. Streamed, the lines of a row are read one after another; else few lines
  // are written at a time, which stay in the first cache.
  constexpr int64_t tile_rows = 16 * n, tile_columns = stream ? 4 * n : n;
  const int64_t rows = t.rows / n * n, columns = t.columns / n * n;
  for (int64_t r0 = 0; r0 < rows; r0 += tile_rows) {
    for (int64_t c0 = 0; c0 < columns; c0 += tile_columns) {
      const int64_t r1 = std::min(rows, r0 + tile_rows);
      const int64_t c1 = std::min(columns, c0 + tile_columns);
      for (int64_t r = r0; r < r1; r += n) {
        for (int64_t c = c0; c < c1; c += n) {
          transpose_block<T, stream>(t, t.to + c * t.to_stride + r * size,
                                     t.from + r * t.from_stride + c * size);
        }
      }
    }
  }
  transpose_rest<T>(t, rows, t.rows - rows, 0, columns);
  transpose_rest<T>(t, 0, t.rows, columns, t.columns - columns);
#ifdef __SSE2__
  if constexpr (stream) _mm_sfence();
#endif
}

template <class T>
void transpose_all(const Transposition& t) {
  t.stream ? transpose_tiles<T, true>(t) : transpose_tiles<T, false>(t);
}

}  // namespace

SB_CPU_KERNEL(TransposeTable, transpose_kernel,
              {&transpose_all<uint8_t>, &transpose_all<uint16_t>, &transpose_all<uint32_t>,
               &transpose_all<uint64_t>, &transpose_all<Bytes16>});

}  // namespace sb
