#include "switchboard/ops/spatial/pool_kernels.h"

#include <algorithm>
#include <limits>

#include "Eigen/Core"

namespace sb::spatial {
namespace {

using Packet = Eigen::internal::packet_traits<float>::type;
constexpr int64_t kLanes = Eigen::internal::packet_traits<float>::size;
static_assert(kLanes <= kMaxRowCount);

Packet load(const float* from, int64_t stride) {
  if (stride == 1) return Eigen::internal::ploadu<Packet>(from);
  float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) lanes[i] = from[i * stride];
  return Eigen::internal::ploadu<Packet>(lanes);
}

void max_row(const MaxRow& r) {
  using namespace Eigen::internal;  // NOLINT: operations on packets
  for (int64_t i = 0; i < r.count; i += kLanes) {
    const int64_t x = std::min(i, r.count - kLanes);  // the last overlaps the one before
    Packet largest = pset1<Packet>(-std::numeric_limits<float>::infinity());
    Packet tap = pset1<Packet>(0.0f);
    for (int64_t t = 0; t < r.taps; ++t) {
      const Packet value = load(r.input + x * r.stride + r.offsets[t], r.stride);
      const Packet take =
          por(pcmp_lt(largest, value), pandnot(ptrue(value), pcmp_eq(value, value)));
      largest = pselect(take, value, largest);
      tap = pselect(take, pset1<Packet>(static_cast<float>(t)), tap);
    }
    pstoreu(r.largest + x, largest);
    pstoreu(r.tap + x, tap);
  }
}

void max_channels(const MaxChannels& r) {
  float* const __restrict largest = r.largest;
  int32_t* const __restrict tap = r.tap;
  for (int64_t c = 0; c < r.n; ++c) largest[c] = -std::numeric_limits<float>::infinity();
  for (int64_t c = 0; c < r.n; ++c) tap[c] = 0;
  for (int64_t t = 0; t < r.taps; ++t) {
    const float* const value = r.input + r.places[t] * r.n;
    for (int64_t c = 0; c < r.n; ++c) {
      const bool take = (value[c] > largest[c]) | (value[c] != value[c]);
      largest[c] = take ? value[c] : largest[c];
      tap[c] = take ? static_cast<int32_t>(t) : tap[c];
    }
  }
}

}  // namespace

SB_CPU_KERNEL(MaxRowFunction, max_row_kernel, &max_row);
SB_CPU_KERNEL(MaxChannelsFunction, max_channels_kernel, &max_channels);

}  // namespace sb::spatial
