// The shape of a convolution, and what kernels make of it.
//
// A transposed convolution is the gradient of one with respect to its input, and is computed as
// such: its ConvShape is that of the convolution, its own input what that convolution gives.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_

#include "switchboard/ops/spatial/spatial.h"

namespace sb::spatial {

template <SizeType Int>
struct BasicConvShape {
  Int batch;
  int64_t groups;
  Int in_channels;   // of each group
  Int out_channels;  // of each group
  Space<Int> input;
  Space<Int> kernel;
  Size3 stride;
  Size3 padding;
  Size3 dilation;
  Space<Int> output;

  // Elements that one output is a sum of.
  Int depth() const { return in_channels * volume(kernel); }
};
using ConvShape = BasicConvShape<int64_t>;

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_SHAPE_H_
