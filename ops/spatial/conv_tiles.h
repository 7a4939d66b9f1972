// How the innermost loops of convolutions keep sums in registers. Only for files of cpu_kernels.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_TILES_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_TILES_H_

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "Eigen/Core"

namespace sb::spatial {

using Packet = Eigen::internal::packet_traits<float>::type;
constexpr int kLanes = Eigen::internal::packet_traits<float>::size;

// How many sums fill the registers, in rows of so many vectors.
#ifdef EIGEN_VECTORIZE_AVX512
constexpr int kRegisters = 32;
#else
constexpr int kRegisters = 16;
#endif
constexpr int rows_at_once(int vectors) { return std::clamp((kRegisters - 2) / vectors - 1, 1, 8); }

// f(0), f(1), ... with constants: a loop that is unrolled, so that an array stays in registers.
constexpr auto for_each =
    []<size_t... i>(std::index_sequence<i...>, const auto& f) __attribute__((always_inline)) {
  (f(std::integral_constant<size_t, i>()), ...);
};

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_TILES_H_
