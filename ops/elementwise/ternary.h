// Functions of three tensors.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// self + value * tensor1 * tensor2, and self + value * tensor1 / tensor2. RuntimeError where
// addcdiv would divide integers.
SB_OP(addcmul,
      "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
      "Tensor");
SB_OP(addcmul_, inplace_of(addcmul));
SB_OP(addcmul_out, out_of(addcmul, "out"));
SB_OP(addcdiv,
      "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> "
      "Tensor");
SB_OP(addcdiv_, inplace_of(addcdiv));
SB_OP(addcdiv_out, out_of(addcdiv, "out"));

// self + weight * (end - self), exact at both ends. Floating-point and complex tensors, all of one
// dtype (RuntimeError).
SB_OP(lerp_Scalar, "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor");
SB_OP(lerp_Scalar_, inplace_of(lerp_Scalar));
SB_OP(lerp_Scalar_out, out_of(lerp_Scalar, "Scalar_out"));
SB_OP(lerp_Tensor, "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor");
SB_OP(lerp_Tensor_, inplace_of(lerp_Tensor));
SB_OP(lerp_Tensor_out, out_of(lerp_Tensor, "Tensor_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_TERNARY_H_
