// Max pooling of many outputs at once.

#ifndef SWITCHBOARD_OPS_SPATIAL_POOL_KERNELS_H_
#define SWITCHBOARD_OPS_SPATIAL_POOL_KERNELS_H_

#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::spatial {

// Shorter rows are not worth it.
inline constexpr int64_t kMaxRowCount = 16;

// float counts the elements of a window so far.
inline constexpr int64_t kMaxTaps = int64_t{1} << 24;

// A row of outputs whose windows are whole and at equal distances.
struct MaxRow {
  const float* input;
  const int64_t* offsets;  // of a window's elements; output x sees input[x * stride + offset]
  int64_t taps;            // at most kMaxTaps
  int64_t stride;
  int64_t count;   // at least kMaxRowCount
  float* largest;  // the result
  float* tap;      // and which of the offsets it comes from
};
using MaxRowFunction = void (*)(const MaxRow&);
extern const CpuKernel<MaxRowFunction> max_row_kernel;

// One output of all channels, which lie side by side.
struct MaxChannels {
  const float* input;
  const int64_t* places;  // of a window's elements in the plane; channel c is input[place * n + c]
  int64_t taps;           // at most kMaxTaps
  int64_t n;              // channels
  float* largest;
  int32_t* tap;  // which of the places it comes from; 0 where a window has none
};
using MaxChannelsFunction = void (*)(const MaxChannels&);
extern const CpuKernel<MaxChannelsFunction> max_channels_kernel;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_POOL_KERNELS_H_
