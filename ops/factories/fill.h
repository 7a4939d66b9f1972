// fill_ and zero_.

#ifndef SWITCHBOARD_OPS_FACTORIES_FILL_H_
#define SWITCHBOARD_OPS_FACTORIES_FILL_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Writes one number to every element. Throws RuntimeError where it does not fit self's dtype.
SB_OP(fill_, "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)");
// `value` is 0-dim.
SB_OP(fill__Tensor, "aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)");
SB_OP(zero_, "aten::zero_(Tensor(a!) self) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FACTORIES_FILL_H_
