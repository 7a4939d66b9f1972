// Draws of 0 and 1.

#ifndef SWITCHBOARD_OPS_RANDOM_BERNOULLI_H_
#define SWITCHBOARD_OPS_RANDOM_BERNOULLI_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// 1 with probability p, else 0; RuntimeError for a p outside of [0, 1]. Not for float16 and complex
// dtypes, as in PyTorch.
SB_OP(bernoulli_float_,
      "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> "
      "Tensor(a!)");
SB_OP(bernoulli_float_out,
      "aten::bernoulli.float_out(Tensor self, float p=0.5, *, Generator? generator=None, "
      "Tensor(a!) out) -> Tensor(a!)");
SB_OP(bernoulli_p,
      "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor");
// With a p for each element, floating-point, which broadcasts to self's shape.
SB_OP(bernoulli_Tensor,
      "aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(bernoulli_Tensor_, inplace_of(bernoulli_Tensor));
SB_OP(bernoulli_Tensor_out, out_of(bernoulli_Tensor, "Tensor_out"));
// With self as the probabilities.
SB_OP(bernoulli, "aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor");
SB_OP(bernoulli_out, out_of(bernoulli, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_BERNOULLI_H_
