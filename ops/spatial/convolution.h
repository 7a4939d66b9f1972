// Convolutions over one, two or three dimensions. As `torch.nn.functional.conv2d`.
//
//   input (N, groups * C, space...), weight (groups * O, C, kernel...), bias (groups * O)
//   transposed: input (N, groups * C, space...), weight (groups * C, O, kernel...)
//
// All of one dtype, any but bool; integers wrap. Lists have one element for all dimensions or one
// for each. RuntimeError for shapes that do not fit.

#ifndef SWITCHBOARD_OPS_SPATIAL_CONVOLUTION_H_
#define SWITCHBOARD_OPS_SPATIAL_CONVOLUTION_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(convolution,
      "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
      "padding, "
      "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor");
SB_OP(convolution_out, out_of(convolution, "out"));
// The gradients that output_mask asks for, the others undefined.
SB_OP(convolution_backward,
      "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? "
      "bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
      "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)");
// The same as convolution; the other arguments have a meaning for other devices.
SB_OP(_convolution,
      "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
      "padding, "
      "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, "
      "bool "
      "deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor");
SB_OP(_convolution_out, out_of(_convolution, "out"));
SB_OP(_convolution_deprecated,
      "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
      "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt "
      "groups, bool "
      "benchmark, bool deterministic, bool cudnn_enabled) -> Tensor");

// The batch may be missing: input (C, space...). `padding` is "valid" for none, or "same" for as
// much as keeps the size, more behind than before where it is odd.
SB_OP(
    conv1d,
    "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
    "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor");
SB_OP(conv2d,
      "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] "
      "padding=0, SymInt[2] dilation=1, SymInt groups=1) -> Tensor");
SB_OP(conv3d,
      "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] "
      "padding=0, SymInt[3] dilation=1, SymInt groups=1) -> Tensor");
SB_OP(conv1d_padding,
      "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
      "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor");
SB_OP(
    conv2d_padding,
    "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str "
    "padding=\"valid\", SymInt[2] dilation=1, SymInt groups=1) -> Tensor");
SB_OP(
    conv3d_padding,
    "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str "
    "padding=\"valid\", SymInt[3] dilation=1, SymInt groups=1) -> Tensor");
SB_OP(_convolution_mode,
      "aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str "
      "padding, SymInt[] dilation, SymInt groups) -> Tensor");
SB_OP(
    conv_transpose1d,
    "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
    "SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) "
    "-> "
    "Tensor");
SB_OP(conv_transpose2d_input,
      "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] "
      "stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] "
      "dilation=1) -> "
      "Tensor");
SB_OP(conv_transpose3d_input,
      "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] "
      "stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] "
      "dilation=1) -> "
      "Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_CONVOLUTION_H_
