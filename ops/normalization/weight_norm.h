// Weights v with another length: w = v * g / |v|, where the norm is over all dimensions but `dim`.
// As `torch.nn.utils.parametrizations.weight_norm`.

#ifndef SWITCHBOARD_OPS_NORMALIZATION_WEIGHT_NORM_H_
#define SWITCHBOARD_OPS_NORMALIZATION_WEIGHT_NORM_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// With -1 for `dim`, the norm is over all of them.
SB_OP(_weight_norm, "aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor");
// The norm, dimensions other than `dim` being of one element; a number for -1.
SB_OP(norm_except_dim, "aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor");

// The same for the first or the last dimension, with the norms, which are at least float32. Results
// are contiguous. RuntimeError for another dimension, and for a `g` that is not of the norms'
// shape.
SB_OP(_weight_norm_interface,
      "aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)");
// The gradients of v and g; both forms are made of operators that have derivatives.
SB_OP(_weight_norm_interface_backward,
      "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor "
      "saved_norms, int dim) -> (Tensor, Tensor)");
SB_OP(_weight_norm_differentiable_backward,
      "aten::_weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, "
      "Tensor saved_norms, int dim) -> (Tensor, Tensor)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_NORMALIZATION_WEIGHT_NORM_H_
