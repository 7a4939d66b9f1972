// The gradient of a float32 convolution's input without columns.
//
// Each phase of the input, of which there are as many as the strides say, is what a convolution of
// stride 1 gives of the gradient of the output: its kernel has the elements that meet that phase,
// in reverse.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_INPUT_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_INPUT_H_

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

// As convolve_grad_input; false, with nothing written, where the shape does not suit it.
bool convolve_grad_input_directly(const ConvShape& shape, const Tensor& grad_output,
                                  const Tensor& weight, const Tensor& grad_input);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_GRAD_INPUT_H_
