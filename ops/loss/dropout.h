// Dropout: some elements become 0, and the others grow to make up for them. The numbers come from
// the generator of the tensor's device.

#ifndef SWITCHBOARD_OPS_LOSS_DROPOUT_H_
#define SWITCHBOARD_OPS_LOSS_DROPOUT_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Elements become 0 with probability p. While not training, or for p = 0, the result is `input`
// itself. RuntimeError for a p outside of [0, 1].
SB_OP(dropout, "aten::dropout(Tensor input, float p, bool train) -> Tensor");
SB_OP(dropout_, "aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)");
// Whole channels of [batch, channels, ...] become 0.
SB_OP(feature_dropout, "aten::feature_dropout(Tensor input, float p, bool train) -> Tensor");
SB_OP(feature_dropout_,
      "aten::feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)");
// Elements become the lower limit of SELU; mean and variance stay what they are.
SB_OP(alpha_dropout, "aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor");
SB_OP(alpha_dropout_, "aten::alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)");
SB_OP(feature_alpha_dropout,
      "aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor");
SB_OP(feature_alpha_dropout_,
      "aten::feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)");

// The same with the mask of the elements that stay.
SB_OP(native_dropout,
      "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)");
SB_OP(native_dropout_backward,
      "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_DROPOUT_H_
