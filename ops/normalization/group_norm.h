// Normalisation of groups of channels of each batch item.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_GROUP_NORM_H_
#define SWITCHBOARD_OPS_NORMALIZATION_GROUP_NORM_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The input is N items of C channels of HxW elements, whose channels are taken in `group` groups.
// The normalised input, and the mean and 1 / deviation of each group, [N, group]. Weight and bias
// have C elements and the input's dtype. Throws RuntimeError.
SB_OP(native_group_norm,
      "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
      "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)");
// The gradients of input (contiguous), weight and bias, undefined where output_mask does not ask
// for them.
SB_OP(native_group_norm_backward,
      "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
      "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, "
      "Tensor, Tensor)");
// As `torch.group_norm`.
SB_OP(group_norm,
      "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_GROUP_NORM_H_
