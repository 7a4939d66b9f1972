// float32 convolution without columns.
//
// The input is copied into planes with the padding around them, and its columns and rows dealt out
// by stride, so that the inputs of consecutive outputs are consecutive for each element of the
// kernel. The outputs' rows get the pitch of these planes: what is summed behind the end of a row
// is dropped. A kernel of one element without padding needs no copy.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_DIRECT_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_DIRECT_H_

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

// Whether the shape is one that this suits: enough outputs to fill vectors.
bool suits_direct(const ConvShape& shape);
// As convolve.
void convolve_directly(const ConvShape& shape, const Tensor& input, const Tensor& weight,
                       const Tensor& bias, const Tensor& output);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_DIRECT_H_
