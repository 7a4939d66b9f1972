// The shape of a convolution, and what kernels make of it.
//
// A transposed convolution is the gradient of one with respect to its input, and is computed as
// such: its ConvShape is that of the convolution, its own input what that convolution gives.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_

#include "switchboard/ops/spatial/spatial.h"

namespace sb::spatial {

struct ConvShape {
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   // of each group
  int64_t out_channels;  // of each group
  Size3 input;
  Size3 kernel;
  Size3 stride;
  Size3 padding;
  Size3 dilation;
  Size3 output;

  // Elements that one output is a sum of.
  int64_t depth() const { return in_channels * volume(kernel); }
};

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_
