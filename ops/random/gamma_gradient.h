// How draws from the gamma distribution follow its shape.

#ifndef SWITCHBOARD_OPS_RANDOM_GAMMA_GRADIENT_H_
#define SWITCHBOARD_OPS_RANDOM_GAMMA_GRADIENT_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Of `output`, drawn by _standard_gamma for the shapes `self`, the derivative by self: how a draw
// moves that stays where it is among all draws. As `torch._standard_gamma_grad`. Floating-point
// tensors of one dtype, which broadcast: RuntimeError for others. 0 where the derivative has no
// number, as PyTorch: for a draw of 0.
SB_OP(_standard_gamma_grad, "aten::_standard_gamma_grad(Tensor self, Tensor output) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_GAMMA_GRADIENT_H_
