// Where upsampling takes its elements from.

#ifndef SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_TAPS_H_
#define SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_TAPS_H_

#include <optional>

#include "switchboard/ops/spatial/taps.h"

namespace sb::spatial {

enum class UpsampleMode { Nearest, NearestExact, Linear, Cubic };

// The arguments of an operator besides sizes.
struct UpsampleOptions {
  UpsampleMode mode;
  bool align_corners = false;
  // The filter is as wide as what an output stands for, where that is more than one input.
  bool antialias = false;
  std::array<std::optional<double>, 3> scales = {};  // right-aligned, as Size3
};

// How exactly PyTorch computes positions, which decides the element where one falls between two.
enum class Positions {
  InDType,    // in the dtype of the tensor
  InFloat32,  // as its channels-last and backward kernels do
};
Taps upsample_taps(const UpsampleOptions& options, const Size3& input, const Size3& output,
                   DType dtype, Positions positions);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_UPSAMPLE_TAPS_H_
