// Pooling: means and largest elements of windows of the space of (N, C, space...) or (C, space...).
// As `torch.nn.functional.max_pool2d` and its family. List arguments have one element for all
// dimensions or one for each; an empty stride is the kernel's size. RuntimeError for windows that
// do not fit.

#ifndef SWITCHBOARD_OPS_SPATIAL_POOLING_H_
#define SWITCHBOARD_OPS_SPATIAL_POOLING_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The largest elements, NaN counting as larger than all, and where they lie in their planes.
#define SB_MAX_POOL_ARGUMENTS(n)                                                             \
  "(Tensor self, int[" n "] kernel_size, int[" n "] stride=[], int[" n "] padding=0, int[" n \
  "] dilation=1, bool ceil_mode=False) -> "
#define SB_MAX_POOL_BACKWARD_ARGUMENTS(n)                                               \
  "(Tensor grad_output, Tensor self, int[" n "] kernel_size, int[" n "] stride, int[" n \
  "] padding, int[" n "] dilation, bool ceil_mode, Tensor indices) -> Tensor"
SB_OP(max_pool1d,
      "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
      "int[1] dilation=[1], bool ceil_mode=False) -> Tensor");
SB_OP(max_pool1d_with_indices,
      "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
      "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)");
SB_OP(max_pool2d, "aten::max_pool2d" SB_MAX_POOL_ARGUMENTS("2") "Tensor");
SB_OP(max_pool3d, "aten::max_pool3d" SB_MAX_POOL_ARGUMENTS("3") "Tensor");
SB_OP(max_pool2d_with_indices,
      "aten::max_pool2d_with_indices" SB_MAX_POOL_ARGUMENTS("2") "(Tensor, Tensor)");
SB_OP(max_pool2d_with_indices_out, out_of(max_pool2d_with_indices, "out", {"out", "indices"}));
SB_OP(max_pool3d_with_indices,
      "aten::max_pool3d_with_indices" SB_MAX_POOL_ARGUMENTS("3") "(Tensor, Tensor)");
SB_OP(max_pool3d_with_indices_out, out_of(max_pool3d_with_indices, "out", {"out", "indices"}));
SB_OP(max_pool2d_with_indices_backward,
      "aten::max_pool2d_with_indices_backward" SB_MAX_POOL_BACKWARD_ARGUMENTS("2"));
SB_OP(max_pool2d_with_indices_backward_out,
      out_of(max_pool2d_with_indices_backward, "grad_input", {"grad_input"}));
SB_OP(max_pool3d_with_indices_backward,
      "aten::max_pool3d_with_indices_backward" SB_MAX_POOL_BACKWARD_ARGUMENTS("3"));
SB_OP(max_pool3d_with_indices_backward_out,
      out_of(max_pool3d_with_indices_backward, "grad_input", {"grad_input"}));

// Means. The divisor is the window's size, with the padding that it lies on or without, or
// divisor_override. Integers divide as C++ does.
#define SB_AVG_POOL_ARGUMENTS(n)                                       \
  "(Tensor self, int[" n "] kernel_size, int[" n "] stride=[], int[" n \
  "] padding=0, bool "                                                 \
  "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
#define SB_AVG_POOL_BACKWARD_ARGUMENTS(n)                                               \
  "(Tensor grad_output, Tensor self, int[" n "] kernel_size, int[" n "] stride, int[" n \
  "] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"
SB_OP(avg_pool1d,
      "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
      "bool ceil_mode=False, bool count_include_pad=True) -> Tensor");
SB_OP(avg_pool2d, "aten::avg_pool2d" SB_AVG_POOL_ARGUMENTS("2"));
SB_OP(avg_pool2d_out, out_of(avg_pool2d, "out"));
SB_OP(avg_pool3d, "aten::avg_pool3d" SB_AVG_POOL_ARGUMENTS("3"));
SB_OP(avg_pool3d_out, out_of(avg_pool3d, "out"));
SB_OP(avg_pool2d_backward, "aten::avg_pool2d_backward" SB_AVG_POOL_BACKWARD_ARGUMENTS("2"));
SB_OP(avg_pool2d_backward_out, out_of(avg_pool2d_backward, "grad_input", {"grad_input"}));
SB_OP(avg_pool3d_backward, "aten::avg_pool3d_backward" SB_AVG_POOL_BACKWARD_ARGUMENTS("3"));
SB_OP(avg_pool3d_backward_out, out_of(avg_pool3d_backward, "grad_input", {"grad_input"}));

// Windows chosen so that the result has the given size.
SB_OP(adaptive_avg_pool1d, "aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor");
SB_OP(adaptive_avg_pool2d,
      "aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor");
SB_OP(adaptive_avg_pool2d_out, out_of(adaptive_avg_pool2d, "out"));
SB_OP(adaptive_avg_pool3d,
      "aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor");
SB_OP(adaptive_avg_pool3d_out, out_of(adaptive_avg_pool3d, "out"));
SB_OP(_adaptive_avg_pool2d,
      "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor");
SB_OP(_adaptive_avg_pool2d_out, out_of(_adaptive_avg_pool2d, "out"));
SB_OP(_adaptive_avg_pool3d,
      "aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor");
SB_OP(_adaptive_avg_pool3d_out, out_of(_adaptive_avg_pool3d, "out"));
SB_OP(_adaptive_avg_pool2d_backward,
      "aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(_adaptive_avg_pool2d_backward_out, out_of(_adaptive_avg_pool2d_backward, "out"));
SB_OP(_adaptive_avg_pool3d_backward,
      "aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor");
SB_OP(_adaptive_avg_pool3d_backward_out, out_of(_adaptive_avg_pool3d_backward, "out"));
SB_OP(adaptive_avg_pool3d_backward_grad_input,
      "aten::adaptive_avg_pool3d_backward.grad_input(Tensor grad_output, Tensor self, *, "
      "Tensor(a!) grad_input) -> Tensor(a!)");
SB_OP(adaptive_max_pool1d,
      "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)");
SB_OP(adaptive_max_pool2d,
      "aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, "
      "Tensor)");
SB_OP(adaptive_max_pool2d_out, out_of(adaptive_max_pool2d, "out", {"out", "indices"}));
SB_OP(adaptive_max_pool3d,
      "aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, "
      "Tensor)");
SB_OP(adaptive_max_pool3d_out, out_of(adaptive_max_pool3d, "out", {"out", "indices"}));
SB_OP(adaptive_max_pool2d_backward,
      "aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> "
      "Tensor");
SB_OP(adaptive_max_pool2d_backward_out,
      out_of(adaptive_max_pool2d_backward, "grad_input", {"grad_input"}));
SB_OP(adaptive_max_pool3d_backward,
      "aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> "
      "Tensor");
SB_OP(adaptive_max_pool3d_backward_out,
      out_of(adaptive_max_pool3d_backward, "grad_input", {"grad_input"}));

// Windows of kernel_size, placed by random_samples (N, C, dims): numbers in [0, 1).
SB_OP(fractional_max_pool2d,
      "aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] "
      "output_size, Tensor random_samples) -> (Tensor, Tensor)");
SB_OP(fractional_max_pool2d_out, out_of(fractional_max_pool2d, "output", {"output", "indices"}));
SB_OP(fractional_max_pool3d,
      "aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] "
      "output_size, Tensor random_samples) -> (Tensor, Tensor)");
SB_OP(fractional_max_pool3d_out, out_of(fractional_max_pool3d, "output", {"output", "indices"}));
SB_OP(fractional_max_pool2d_backward,
      "aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
      "int[2] output_size, Tensor indices) -> Tensor");
SB_OP(fractional_max_pool2d_backward_out,
      out_of(fractional_max_pool2d_backward, "grad_input", {"grad_input"}));
SB_OP(fractional_max_pool3d_backward,
      "aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
      "int[3] output_size, Tensor indices) -> Tensor");
SB_OP(fractional_max_pool3d_backward_out,
      out_of(fractional_max_pool3d_backward, "grad_input", {"grad_input"}));

// The elements of self at `indices` of the planes of a result of output_size, with zeros elsewhere.
// The last of several elements of one index stays. RuntimeError for an index outside.
SB_OP(max_unpool2d,
      "aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor");
SB_OP(max_unpool2d_out, out_of(max_unpool2d, "out"));
SB_OP(
    max_unpool3d,
    "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] "
    "padding) -> Tensor");
SB_OP(max_unpool3d_out, out_of(max_unpool3d, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SPATIAL_POOLING_H_
