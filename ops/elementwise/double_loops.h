// Loops whose floats are computed in double and rounded once: right to the last place, as who asks
// for a float64 `out` of float32 arithmetic sees. That costs half of the speed.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_DOUBLE_LOOPS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_DOUBLE_LOOPS_H_

#include <algorithm>

#include "switchboard/ops/elementwise/element_loops.h"

namespace sb {
namespace internal {

template <class F, size_t... I>
void loop_in_double(char* const* data, int64_t n, std::index_sequence<I...>) {
  constexpr int64_t kChunk = 256;
  Eigen::Array<double, kChunk, 1> in[sizeof...(I)], result;
  float* const out = reinterpret_cast<float*>(data[0]);
  for (int64_t done = 0; done < n; done += kChunk) {
    const int64_t count = std::min(kChunk, n - done);
    const auto load = [&](size_t i) {
      const float* const from = reinterpret_cast<const float*>(data[i + 1]) + done;
      for (int64_t k = 0; k < count; ++k) in[i][k] = from[k];
    };
    (load(I), ...);
    result.head(count) = F()(in[I].head(count)...);
    for (int64_t k = 0; k < count; ++k) out[done + k] = static_cast<float>(result[k]);
  }
}
template <class F, size_t inputs>
void loop_in_double_entry(char* const* data, int64_t n, const void*) {
  loop_in_double<F>(data, n, std::make_index_sequence<inputs>());
}

}  // namespace internal

// Puts loops for float and double into a table. f takes and gives Eigen arrays of double.
template <size_t inputs, class F>
constexpr void set_double_loops(LoopTable* table, F f) {
  (*table)[static_cast<size_t>(DType::Float32)] = &internal::loop_in_double_entry<F, inputs>;
  set_loops<inputs>(table, TypeList<double>(), f);
}
// A table of these loops alone.
template <size_t inputs, class F>
constexpr LoopTable double_loops(F f) {
  LoopTable table{};
  set_double_loops<inputs>(&table, f);
  return table;
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_DOUBLE_LOOPS_H_
