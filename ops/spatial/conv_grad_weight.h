// The gradient of a float32 convolution's weight without columns: from the planes that the
// convolution itself reads (conv_planes.h), and the gradients of the output with some
// vectors of channels next to each other.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_WEIGHT_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_WEIGHT_H_

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

// As convolve_grad_weight, for shapes that suits_direct takes. Sums are made for an item, or some
// rows of it, first, and added in the items' order.
void convolve_grad_weight_directly(const ConvShape& shape, const Tensor& input,
                                   const Tensor& grad_output, const Tensor& grad_weight);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_WEIGHT_H_
