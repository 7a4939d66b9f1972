// Operators that fill a tensor with independent draws from one distribution.

#ifndef SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_
#define SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// The functional forms give a new tensor of self's shape, strides and dtype. RuntimeError for
// parameters outside of the distribution's, or a dtype that cannot hold it.

// [from, to); where from is not 0 rounding may give `to`, as in PyTorch. Floating-point and complex
// dtypes.
SB_STRUCTURED(uniform,
              "aten::uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) "
              "-> Tensor",
              "out");
// The normal distribution; of a complex number, each part has half the variance.
SB_OP(normal_,
      "aten::normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> "
      "Tensor(a!)");
SB_OP(normal_functional,
      "aten::normal_functional(Tensor self, float mean=0, float std=1, *, Generator? "
      "generator=None) -> Tensor");
SB_OP(normal_out,
      "aten::normal.out(Tensor self, float mean=0, float std=1, *, Generator? generator=None, "
      "Tensor(a!) out) -> Tensor(a!)");
SB_STRUCTURED(log_normal,
              "aten::log_normal(Tensor self, float mean=1, float std=2, *, Generator? "
              "generator=None) -> Tensor",
              "out");
SB_STRUCTURED(exponential,
              "aten::exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> "
              "Tensor",
              "out");
SB_STRUCTURED(cauchy,
              "aten::cauchy(Tensor self, float median=0, float sigma=1, *, Generator? "
              "generator=None) -> Tensor",
              "out");
// The number of trials until the first success, from 1. All dtypes but bool and complex.
SB_STRUCTURED(geometric,
              "aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor",
              "out");

// Integers of [0, 2^digits) for floating point of so many digits, of [0, largest] for integers; of
// [from, to), which must fit the dtype; of [from, largest] without `to`. All dtypes but complex.
SB_STRUCTURED(random, "aten::random(Tensor self, *, Generator? generator=None) -> Tensor", "out");
SB_STRUCTURED(random_to,
              "aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
              "to_out");
SB_STRUCTURED(random_from,
              "aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> "
              "Tensor",
              "from_out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_
