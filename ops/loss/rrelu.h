// Leaky ReLU whose slopes are drawn.

#ifndef SWITCHBOARD_OPS_LOSS_RRELU_H_
#define SWITCHBOARD_OPS_LOSS_RRELU_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Where training, self times `noise`, which is written: 1 for elements above 0, and slopes between
// lower and upper for others. Else leaky_relu with the slope between both, and noise is left.
// RuntimeError for a noise of another shape or dtype, and for lower above upper where training.
SB_OP(rrelu_with_noise,
      "aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
      "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor");
SB_OP(rrelu_with_noise_,
      "aten::rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
      "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)");
SB_OP(rrelu_with_noise_out,
      "aten::rrelu_with_noise.out(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
      "upper=0.33333333333333331, bool training=False, Generator? generator=None, *, Tensor(a!) "
      "out) -> Tensor(a!)");
SB_OP(
    rrelu_with_noise_backward,
    "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, "
    "Scalar upper, bool training, bool self_is_result) -> Tensor");
// The same of a noise of its own. RuntimeError for lower above upper.
SB_OP(rrelu,
      "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
      "training=False, Generator? generator=None) -> Tensor");
SB_OP(rrelu_,
      "aten::rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
      "training=False, Generator? generator=None) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LOSS_RRELU_H_
