// Linear maps from one space to another that act on each dimension by itself: padding by
// reflection, replication or the other end, and upsampling.
//
// Along a dimension, output o is the sum over its taps k of weight * input[index]. In several
// dimensions the weights multiply. Kernels take dense tensors: planes, then the three dimensions of
// the space, then `inner` numbers at each place, which are the channels where these lie last.

#ifndef SWITCHBOARD_OPS_SPATIAL_TAPS_H_
#define SWITCHBOARD_OPS_SPATIAL_TAPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "switchboard/ops/spatial/spatial.h"

namespace sb::spatial {

struct TapRow {
  int64_t input = 1;
  int64_t output = 1;
  size_t taps = 1;                   // for each output
  std::vector<int64_t> index = {0};  // output * taps, each in [0, input)
  std::vector<double> weight = {};   // as many, or none where all are 1
};
using Taps = std::array<TapRow, 3>;

// For maps of one tap without weights: moves elements of any dtype.
void gather_planes(const Taps& taps, const Tensor& input, const Tensor& output, int64_t inner = 1);
// For float32 and float64.
void interpolate_planes(const Taps& taps, const Tensor& input, const Tensor& output,
                        int64_t inner = 1);
// The transposed map of either, without inner numbers: adds what each output received to the inputs
// that it came from. For every dtype that something is computed in.
void spread_planes(const Taps& taps, const Tensor& grad_output, const Tensor& grad_input);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_TAPS_H_
