// Normalisation of each channel (dimension 1), over all others.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_BATCH_NORM_H_
#define SWITCHBOARD_OPS_NORMALIZATION_BATCH_NORM_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The normalised input, and the mean and 1 / deviation of each channel, which are empty unless
// `training`. Training uses the input's statistics and updates the running ones in place; else the
// running ones are used. Parameters have the input's dtype, or are all float32 for 16-bit inputs.
// Throws RuntimeError; IndexError for an input without channels.
SB_OP(native_batch_norm,
      "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
      "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)");
SB_OP(native_batch_norm_out,
      "aten::native_batch_norm.out(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
      "running_mean, Tensor? running_var, bool training, float momentum, float eps, *, Tensor(a!) "
      "out, Tensor(b!) save_mean, Tensor(c!) save_invstd) -> (Tensor(a!), Tensor(b!), Tensor(c!))");
// The gradients of input, weight and bias, undefined where output_mask does not ask for them.
SB_OP(native_batch_norm_backward,
      "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
      "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, "
      "float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)");
// As `torch.batch_norm`, and what it calls.
SB_OP(batch_norm,
      "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
      "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor");
SB_OP(_batch_norm_impl_index,
      "aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
      "running_mean, Tensor? running_var, bool training, float momentum, float eps, bool "
      "cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)");
SB_OP(_batch_norm_impl_index_backward,
      "aten::_batch_norm_impl_index_backward(int impl_index, Tensor input, Tensor grad_output, "
      "Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? "
      "save_var_transform, bool train, float eps, bool[3] output_mask, Tensor reservedSpace) -> "
      "(Tensor, Tensor, Tensor)");
// Each channel of each batch item by itself. As `torch.instance_norm`.
SB_OP(instance_norm,
      "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
      "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) "
      "-> Tensor");

// Forms of PyTorch 2, whose schemas say what is written to.
SB_OP(_native_batch_norm_legit,
      "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
      "running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> "
      "(Tensor, Tensor, Tensor)");
SB_OP(_native_batch_norm_legit_no_stats,
      "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)");
SB_OP(_native_batch_norm_legit_no_training,
      "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
      "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
      "Tensor)");
SB_OP(_native_batch_norm_legit_functional,
      "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, "
      "Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> "
      "(Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_BATCH_NORM_H_
