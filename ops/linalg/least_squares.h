// Overdetermined and underdetermined systems of linear equations.

#ifndef SWITCHBOARD_OPS_LINALG_LEAST_SQUARES_H_
#define SWITCHBOARD_OPS_LINALG_LEAST_SQUARES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// X with the least norm of A X - B, and of these the one with the least norm itself, for the
// matrices A of self; b has as many dimensions, or one less, which is for vectors. Batches are
// broadcast. By singular values, of which those up to rcond (epsilon times the larger size by
// default) times the largest count as 0, whatever the driver, which only says what else is wanted:
//
//   gelsy  the rank (the default)    gels   residuals; every singular value counts
//   gelsd, gelss                     residuals, the rank, singular values
//
// Residuals are the squares of what is left of each column, where there are more rows than columns
// and every matrix has full rank; what is not wanted is an empty tensor. RuntimeError for another
// driver, and for NaN and infinities.
SB_OP(linalg_lstsq,
      "aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
      "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_LEAST_SQUARES_H_
