// poisson, binomial, gamma and Dirichlet draws: distributions whose parameters are tensors.

#ifndef SWITCHBOARD_OPS_RANDOM_COUNTS_H_
#define SWITCHBOARD_OPS_RANDOM_COUNTS_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Each of self's shape and dtype, which is floating-point. RuntimeError for parameters that the
// distribution does not have.
SB_OP(poisson, "aten::poisson(Tensor self, Generator? generator=None) -> Tensor");
SB_OP(_standard_gamma, "aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor");
SB_OP(_sample_dirichlet,
      "aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor");
SB_OP(binomial, "aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_RANDOM_COUNTS_H_
