// How variables vary together.

#ifndef SWITCHBOARD_OPS_STATISTICS_COVARIANCE_H_
#define SWITCHBOARD_OPS_STATISTICS_COVARIANCE_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The covariances of the rows of a matrix, whose columns are observations: a square matrix, or a
// number for one variable. Frequencies (integers) and weights (floating-point) of the observations
// are not negative. As `torch.cov`.
SB_OP(cov,
      "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) "
      "-> Tensor");
// The same over the product of the deviations: between -1 and 1. As `torch.corrcoef`.
SB_OP(corrcoef, "aten::corrcoef(Tensor self) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_COVARIANCE_H_
