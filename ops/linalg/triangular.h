// Systems of linear equations with triangular matrices, and with what Cholesky's factors make.

#ifndef SWITCHBOARD_OPS_LINALG_TRIANGULAR_H_
#define SWITCHBOARD_OPS_LINALG_TRIANGULAR_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// X with A X = B, or X A = B if not left, where A's elements beyond its triangle, and its diagonal
// if unitriangular, are not read. Batches are broadcast. X's matrices are column-major. Singular
// matrices give infinities. RuntimeError for shapes and dtypes that do not fit.
SB_OP(linalg_solve_triangular,
      "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
      "unitriangular=False) -> Tensor");
SB_OP(linalg_solve_triangular_out, out_of(linalg_solve_triangular, "out"));
// X with L L^H X = self, or with U^H U X = self if upper; the factor is input2.
SB_OP(cholesky_solve,
      "aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor");
SB_OP(cholesky_solve_out, out_of(cholesky_solve, "out"));
// The inverse of L L^H, or of U^H U if upper.
SB_OP(cholesky_inverse, "aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor");
SB_OP(cholesky_inverse_out, out_of(cholesky_inverse, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_TRIANGULAR_H_
