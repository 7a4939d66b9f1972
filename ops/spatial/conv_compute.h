// The arithmetic of convolutions. Tensors are contiguous, of one dtype that gemm has:
//
//   input (batch, groups * in_channels, input space)
//   weight (groups * out_channels, in_channels, kernel)
//   output (batch, groups * out_channels, output space)

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_COMPUTE_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_COMPUTE_H_

#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

// `bias` is undefined or one element for each output channel.
void convolve(const ConvShape& shape, const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Tensor& output);
// What the gradient of the output is to the input and the weight.
void convolve_grad_input(const ConvShape& shape, const Tensor& grad_output, const Tensor& weight,
                         const Tensor& grad_input);
void convolve_grad_weight(const ConvShape& shape, const Tensor& input, const Tensor& grad_output,
                          const Tensor& grad_weight);

// Adds channel c's element of `bias` to each element of the planes of channel c of `output`.
void add_bias(const Tensor& bias, const Tensor& output);
// The sums of the planes of each channel.
void sum_channels(const Tensor& grad_output, const Tensor& grad_bias);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_COMPUTE_H_
