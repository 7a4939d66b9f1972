// What convolution and its gradient read from their arguments.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONV_ARGUMENTS_H_
#define SWITCHBOARD_OPS_SPATIAL_CONV_ARGUMENTS_H_

#include "switchboard/ops/outputs/output_plan.h"
#include "switchboard/ops/spatial/conv_shape.h"

namespace sb::spatial {

template <SizeType Int>
struct ConvArguments {
  BasicConvShape<Int> shape;  // of a transposed convolution, see there
  SizeVector<Int> result;
  bool transposed;
  // One without channels has a result without channels.
  bool empty;
};

// Makes every check of shapes. `bias` may be undefined.
template <SizeType Int>
ConvArguments<Int> conv_arguments(std::string_view op, const Tensor& input, const Tensor& weight,
                                  const Tensor& bias, SymIntArrayRef stride, SymIntArrayRef padding,
                                  SymIntArrayRef dilation, bool transposed,
                                  SymIntArrayRef output_padding, const SymInt& groups);

// Whether convolution gives channels-last results, and its derivatives too: where the input or the
// weight is. With one dimension, which counts as the second of two, the weight alone decides; with
// three, only floating-point numbers up to float32 are laid out so. As in PyTorch.
bool gives_channels_last(const Tensor& input, const Tensor& weight);
// A result of one, two or three dimensions of space.
template <SizeType Int>
BasicTensorMeta<Int> conv_laid_out(SizeVector<Int> sizes, DType dtype, bool channels_last);

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_CONV_ARGUMENTS_H_
