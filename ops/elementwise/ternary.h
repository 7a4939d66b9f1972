// Functions of three tensors.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// self + value * tensor1 * tensor2, and self + value * tensor1 / tensor2. RuntimeError where
// addcdiv would divide integers.
SB_STRUCTURED(addcmul,
              "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
              "Tensor",
              "out");
SB_STRUCTURED(addcdiv,
              "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
              "Tensor",
              "out");

// self + weight * (end - self), exact at both ends. Floating-point and complex tensors, all of one
// dtype (RuntimeError).
SB_STRUCTURED(lerp_Scalar, "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
              "Scalar_out");
SB_STRUCTURED(lerp_Tensor, "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
              "Tensor_out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_
