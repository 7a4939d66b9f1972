// Limiting numbers to a range. NaN, in self or in a limit, gives NaN; where min is above max, max
// counts.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_CLAMP_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_CLAMP_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The limits take part in the dtype of the result; that of `out` must be the same. RuntimeError
// where no limit is given, for complex numbers, and in place where self's dtype would change.
SB_OP(clamp, "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor");
SB_OP(clamp_, inplace_of(clamp));
SB_OP(clamp_out, out_of(clamp, "out"));
SB_OP(clamp_min, "aten::clamp_min(Tensor self, Scalar min) -> Tensor");
SB_OP(clamp_min_, inplace_of(clamp_min));
SB_OP(clamp_min_out, out_of(clamp_min, "out"));
SB_OP(clamp_max, "aten::clamp_max(Tensor self, Scalar max) -> Tensor");
SB_OP(clamp_max_, inplace_of(clamp_max));
SB_OP(clamp_max_out, out_of(clamp_max, "out"));

// Limits for each element, which broadcast. `out` has any dtype that the common one can be cast to.
SB_OP(clamp_Tensor,
      "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor");
SB_OP(clamp_Tensor_, inplace_of(clamp_Tensor));
SB_OP(clamp_Tensor_out, out_of(clamp_Tensor, "Tensor_out"));
SB_OP(clamp_min_Tensor, "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor");
SB_OP(clamp_min_Tensor_, inplace_of(clamp_min_Tensor));
SB_OP(clamp_min_Tensor_out, out_of(clamp_min_Tensor, "Tensor_out"));
SB_OP(clamp_max_Tensor, "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor");
SB_OP(clamp_max_Tensor_, inplace_of(clamp_max_Tensor));
SB_OP(clamp_max_Tensor_out, out_of(clamp_max_Tensor, "Tensor_out"));

// clamp that leaves self's dtype as it is: to [min_val, max_val], and to [0, 6]. Not for bool
// tensors.
SB_OP(hardtanh, "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor");
SB_OP(hardtanh_, inplace_of(hardtanh));
SB_OP(hardtanh_out, out_of(hardtanh, "out"));
SB_OP(relu6, "aten::relu6(Tensor self) -> Tensor");
SB_OP(relu6_, "aten::relu6_(Tensor(a!) self) -> Tensor(a!)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_CLAMP_H_
