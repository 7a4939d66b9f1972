#include "switchboard/ops/spatial/conv_kernels.h"

#include <algorithm>
#include <array>
#include <utility>

#include "Eigen/Core"
#include "switchboard/ops/spatial/conv_tiles.h"

namespace sb::spatial {
namespace {

// Terms summed at a time: their inputs and weights stay in the first cache for all channels.
constexpr int64_t kDepthBlock = 256;

constexpr int kMaxVectors = 8;

// Terms [from, to) for channels [channel, channel + M). The loops are unrolled by folding, as sums
// must stay in registers.
template <int M, int V>
void sum_tile(const ConvPanel& p, int64_t channel, int64_t from, int64_t to) {
  using Eigen::internal::pmadd;
  using Eigen::internal::pset1;
  constexpr auto channels = std::make_index_sequence<M>();
  constexpr auto vectors = std::make_index_sequence<V>();
  Packet sums[M][V];
  float* const out = p.sums + channel * p.sums_stride;
  for_each(
      channels, [&](auto m) __attribute__((always_inline)) {
        const float start = p.bias ? p.bias[channel + static_cast<int64_t>(m())] : 0.0f;
        for_each(
            vectors, [&](auto v) __attribute__((always_inline)) {
              const float* at = out + static_cast<int64_t>(m()) * p.sums_stride +
                                static_cast<int64_t>(v()) * kLanes;
              sums[m()][v()] =
                  from == 0 ? pset1<Packet>(start) : Eigen::internal::ploadu<Packet>(at);
            });
      });
  const float* const weight = p.weight + channel * p.depth;
  for (int64_t k = from; k < to; ++k) {
    const float* const row = p.input + p.offsets[k];
    Packet inputs[V];
    for_each(
        vectors, [&](auto v) __attribute__((always_inline)) {
          inputs[v()] = Eigen::internal::ploadu<Packet>(row + static_cast<int64_t>(v()) * kLanes);
        });
    for_each(
        channels, [&](auto m) __attribute__((always_inline)) {
          const Packet w = pset1<Packet>(weight[static_cast<int64_t>(m()) * p.depth + k]);
          for_each(
              vectors, [&](auto v) __attribute__((always_inline)) {
                sums[m()][v()] = pmadd(w, inputs[v()], sums[m()][v()]);
              });
        });
  }
  for_each(
      channels, [&](auto m) __attribute__((always_inline)) {
        for_each(
            vectors, [&](auto v) __attribute__((always_inline)) {
              Eigen::internal::pstoreu(out + static_cast<int64_t>(m()) * p.sums_stride +
                                           static_cast<int64_t>(v()) * kLanes,
                                       sums[m()][v()]);
            });
      });
}

using TileFunction = void (*)(const ConvPanel&, int64_t, int64_t, int64_t);

template <int V>
void sum_channels(const ConvPanel& p) {
  constexpr int step = rows_at_once(V);
  // For fewer channels at the end.
  constexpr auto tiles = []<size_t... m>(std::index_sequence<m...>) {
    return std::array<TileFunction, step>{&sum_tile<static_cast<int>(m) + 1, V>...};
  }
  (std::make_index_sequence<step>());
  for (int64_t from = 0; from < p.depth; from += kDepthBlock) {
    const int64_t to = std::min(from + kDepthBlock, p.depth);
    for (int64_t c = 0; c < p.channels; c += step) {
      const int64_t n = std::min<int64_t>(step, p.channels - c);
      tiles[static_cast<size_t>(n) - 1](p, c, from, to);
    }
  }
}

void sum_panel(const ConvPanel& p) {
  constexpr auto functions = []<size_t... v>(std::index_sequence<v...>) {
    return std::array<void (*)(const ConvPanel&), kMaxVectors>{
        &sum_channels<static_cast<int>(v) + 1>...};
  }
  (std::make_index_sequence<kMaxVectors>());
  functions[static_cast<size_t>(p.vectors) - 1](p);
}

// Else the compiler reads it again wherever it is used, which takes longer than the arithmetic.
inline void keep_in_register([[maybe_unused]] Packet* packet) {
#ifdef __x86_64__
  asm("" : "+x"(*packet));
#endif
}

// R rows from `row` on, and a vector of columns from `column` on.
template <size_t R, size_t L>
void sum_block(const ConvPlane& p, int64_t row, int64_t column) {
  using Eigen::internal::pmadd;
  using Eigen::internal::pset1;
  constexpr auto rows = std::make_index_sequence<R>();
  constexpr auto links = std::make_index_sequence<L>();
  Packet sums[R];
  for_each(
      rows, [&](auto r) __attribute__((always_inline)) { sums[r()] = pset1<Packet>(p.bias); });
  for (int64_t c = 0; c < p.chains; ++c) {
    Packet weights[L];
    for_each(
        links, [&](auto l) __attribute__((always_inline)) {
          weights[l()] = pset1<Packet>(p.weight[static_cast<int64_t>(l()) * p.chains + c]);
        });
    const float* const from = p.input + row * p.pitch + column + p.offsets[c];
    for_each(
        std::make_index_sequence<R + L - 1>(), [&](auto t) __attribute__((always_inline)) {
          Packet in = Eigen::internal::ploadu<Packet>(from + static_cast<int64_t>(t()) * p.pitch);
          keep_in_register(&in);
          for_each(
              links, [&](auto l) __attribute__((always_inline)) {
                if constexpr (t() >= l() && t() - l() < R) {
                  sums[t() - l()] = pmadd(weights[l()], in, sums[t() - l()]);
                }
              });
        });
  }
  for_each(
      rows, [&](auto r) __attribute__((always_inline)) {
        Eigen::internal::pstoreu(p.output + (row + static_cast<int64_t>(r())) * p.columns + column,
                                 sums[r()]);
      });
}

// The last block of rows, and the last vector of each, overlap those before them.
template <size_t R, size_t L>
void sum_blocks(const ConvPlane& p) {
  constexpr auto height = static_cast<int64_t>(R);
  for (int64_t row = 0; row < p.rows; row += height) {
    const int64_t from = std::min(row, p.rows - height);
    for (int64_t column = 0; column < p.columns; column += kLanes) {
      sum_block<R, L>(p, from, std::min<int64_t>(column, p.columns - kLanes));
    }
  }
}
template <size_t L>
void sum_chains(const ConvPlane& p) {
  if (p.rows % 7 == 0 && p.rows % 8 != 0) return sum_blocks<7, L>(p);  // as most networks have
  if (p.rows >= 8) return sum_blocks<8, L>(p);
  p.rows >= 4 ? sum_blocks<4, L>(p) : sum_blocks<1, L>(p);
}
void sum_plane(const ConvPlane& p) {
  switch (p.chain_length) {
    case 1:
      return sum_chains<1>(p);
    case 3:
      return sum_chains<3>(p);
    case 5:
      return sum_chains<5>(p);
    default:
      return sum_chains<7>(p);
  }
}

}  // namespace

SB_CPU_KERNEL(ConvKernels, conv_kernels, {kLanes, kMaxVectors, &sum_panel, &sum_plane});

}  // namespace sb::spatial
