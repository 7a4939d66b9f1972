#include "switchboard/ops/spatial/conv_grad_kernels.h"

#include <array>
#include <utility>

#include "Eigen/Core"
#include "switchboard/ops/spatial/conv_tiles.h"

namespace sb::spatial {
namespace {

using Eigen::internal::padd;
using Eigen::internal::ploadu;
using Eigen::internal::pmadd;
using Eigen::internal::pset1;
using Eigen::internal::pstoreu;

// More leave too few rows for the registers.
constexpr int kMaxVectors = kRegisters == 32 ? 4 : 3;

// Terms [term, term + M) of a panel. The loops are unrolled by folding, as sums must stay in
// registers.
template <int M, int V>
void sum_tile(const ConvGradPanel& p, int64_t term) {
  constexpr auto terms = std::make_index_sequence<M>();
  constexpr auto vectors = std::make_index_sequence<V>();
  const ConvOutputs& o = p.outputs;
  Packet sums[M][V];
  for_each(
      terms, [&](auto m) __attribute__((always_inline)) {
        for_each(
            vectors, [&](auto v)
                         __attribute__((always_inline)) { sums[m()][v()] = pset1<Packet>(0.0f); });
      });
  const float* inputs[M];
  const float* grads = p.grads;
  for (int64_t row = 0; row < o.rows; ++row) {
    for (size_t m = 0; m < M; ++m)
      inputs[m] = o.input + o.offsets[term + static_cast<int64_t>(m)] + row * o.pitch;
    for (int64_t x = 0; x < o.columns; ++x, grads += p.grads_stride) {
      Packet grad[V];
      for_each(
          vectors, [&](auto v) __attribute__((always_inline)) {
            grad[v()] = ploadu<Packet>(grads + static_cast<int64_t>(v()) * kLanes);
          });
      for_each(
          terms, [&](auto m) __attribute__((always_inline)) {
            const Packet in = pset1<Packet>(inputs[m()][x]);
            for_each(
                vectors, [&](auto v) __attribute__((always_inline)) {
                  sums[m()][v()] = pmadd(in, grad[v()], sums[m()][v()]);
                });
          });
    }
  }
  for_each(
      terms, [&](auto m) __attribute__((always_inline)) {
        float* const out = p.sums + (term + static_cast<int64_t>(m())) * p.sums_stride;
        for_each(
            vectors, [&](auto v) __attribute__((always_inline)) {
              float* const at = out + static_cast<int64_t>(v()) * kLanes;
              pstoreu(at, padd(ploadu<Packet>(at), sums[m()][v()]));
            });
      });
}

template <int V>
void sum_terms(const ConvGradPanel& p) {
  constexpr int step = rows_at_once(V);
  // For fewer terms at the end.
  constexpr auto tiles = []<size_t... m>(std::index_sequence<m...>) {
    return std::array<void (*)(const ConvGradPanel&, int64_t), step>{
        &sum_tile<static_cast<int>(m) + 1, V>...};
  }
  (std::make_index_sequence<step>());
  for (int64_t term = 0; term < p.outputs.terms; term += step) {
    const int64_t n = std::min<int64_t>(step, p.outputs.terms - term);
    tiles[static_cast<size_t>(n) - 1](p, term);
  }
}

void sum_panel(const ConvGradPanel& p) {
  constexpr auto functions = []<size_t... v>(std::index_sequence<v...>) {
    return std::array<void (*)(const ConvGradPanel&), kMaxVectors>{
        &sum_terms<static_cast<int>(v) + 1>...};
  }
  (std::make_index_sequence<kMaxVectors>());
  functions[static_cast<size_t>(p.vectors) - 1](p);
}

// The sums of M terms, in vectors of `width` lanes.
template <int width, size_t M>
struct LaneSums {
  using P = Eigen::internal::find_best_packet<float, width>::type;
  P sums[M];

  LaneSums() {
    for (P& sum : sums) sum = pset1<P>(0.0f);
  }
  // Returns the first column that is left.
  int64_t add(const float* const (&inputs)[M], const float* grads, int64_t x, int64_t columns) {
    for (; x + width <= columns; x += width) {
      const P grad = ploadu<P>(grads + x);
      for_each(
          std::make_index_sequence<M>(), [&](auto m) __attribute__((always_inline)) {
            sums[m()] = pmadd(ploadu<P>(inputs[m()] + x), grad, sums[m()]);
          });
    }
    return x;
  }
  float total(size_t m) const { return Eigen::internal::predux(sums[m]); }
};

// Terms [term, term + M) of a channel. What whole vectors leave of a row is taken by smaller ones.
template <size_t M>
void sum_rows(const ConvGradChannel& c, int64_t term) {
  const ConvOutputs& o = c.outputs;
  LaneSums<kLanes, M> whole;
  LaneSums<std::max(kLanes / 2, 4), M> half;
  LaneSums<4, M> quarter;
  float rest[M] = {};
  for (int64_t row = 0; row < o.rows; ++row) {
    const float* inputs[M];
    for (size_t m = 0; m < M; ++m)
      inputs[m] = o.input + o.offsets[term + static_cast<int64_t>(m)] + row * o.pitch;
    const float* const grads = c.grads + row * o.columns;
    int64_t x = whole.add(inputs, grads, 0, o.columns);
    x = half.add(inputs, grads, x, o.columns);
    x = quarter.add(inputs, grads, x, o.columns);
    for (; x < o.columns; ++x) {
      for (size_t m = 0; m < M; ++m) rest[m] += inputs[m][x] * grads[x];
    }
  }
  for (size_t m = 0; m < M; ++m) {
    c.sums[term + static_cast<int64_t>(m)] +=
        whole.total(m) + half.total(m) + quarter.total(m) + rest[m];
  }
}

void sum_channel(const ConvGradChannel& c) {
  constexpr int64_t step =
      3;  // as many kernels have in a row; the sums of all widths fit the registers
  int64_t term = 0;
  for (; term + step <= c.outputs.terms; term += step) sum_rows<step>(c, term);
  for (; term < c.outputs.terms; ++term) sum_rows<1>(c, term);
}

}  // namespace

SB_CPU_KERNEL(ConvGradKernels, conv_grad_kernels, {kLanes, kMaxVectors, &sum_panel, &sum_channel});

}  // namespace sb::spatial
