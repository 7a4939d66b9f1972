// Operators that fill a tensor with independent draws from one distribution.

#ifndef SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_
#define SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The functional forms give a new tensor of self's shape, strides and dtype. RuntimeError for
// parameters outside of the distribution's, or a dtype that cannot hold it.

// [from, to); where from is not 0 rounding may give `to`, as in PyTorch. Floating-point and complex
// dtypes.
SB_OP(uniform,
      "aten::uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) "
      "-> Tensor");
SB_OP(uniform_, inplace_of(uniform));
SB_OP(uniform_out, out_of(uniform, "out"));
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
SB_OP(log_normal,
      "aten::log_normal(Tensor self, float mean=1, float std=2, *, Generator? "
      "generator=None) -> Tensor");
SB_OP(log_normal_, inplace_of(log_normal));
SB_OP(log_normal_out, out_of(log_normal, "out"));
SB_OP(exponential,
      "aten::exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(exponential_, inplace_of(exponential));
SB_OP(exponential_out, out_of(exponential, "out"));
SB_OP(cauchy,
      "aten::cauchy(Tensor self, float median=0, float sigma=1, *, Generator? "
      "generator=None) -> Tensor");
SB_OP(cauchy_, inplace_of(cauchy));
SB_OP(cauchy_out, out_of(cauchy, "out"));
// The number of trials until the first success, from 1. All dtypes but bool and complex.
SB_OP(geometric, "aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor");
SB_OP(geometric_, inplace_of(geometric));
SB_OP(geometric_out, out_of(geometric, "out"));

// Integers of [0, 2^digits) for floating point of so many digits, of [0, largest] for integers; of
// [from, to), which must fit the dtype; of [from, largest] without `to`. All dtypes but complex.
SB_OP(random, "aten::random(Tensor self, *, Generator? generator=None) -> Tensor");
SB_OP(random_, inplace_of(random));
SB_OP(random_out, out_of(random, "out"));
SB_OP(random_to, "aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor");
SB_OP(random_to_, inplace_of(random_to));
SB_OP(random_to_out, out_of(random_to, "to_out"));
SB_OP(random_from,
      "aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> "
      "Tensor");
SB_OP(random_from_, inplace_of(random_from));
SB_OP(random_from_out, out_of(random_from, "from_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_DISTRIBUTIONS_H_
