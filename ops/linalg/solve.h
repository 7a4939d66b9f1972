// Systems of linear equations, by the factors of `linalg_lu_factor_ex`.

#ifndef SWITCHBOARD_OPS_LINALG_SOLVE_H_
#define SWITCHBOARD_OPS_LINALG_SOLVE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// X with A X = B, or with X A = B if not left, for batches of square matrices A, which are
// broadcast against B. B holds matrices, or vectors where it has one dimension or the sizes of A
// less the last; only left then. With the factors of A, of its transposed if it is real and
// contiguous. info is not 0 where A is singular: RuntimeError if check_errors, else X is of no use.
// RuntimeError for shapes and dtypes that do not fit.
SB_OP(_linalg_solve_ex,
      "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
      "(Tensor result, Tensor LU, Tensor pivots, Tensor info)");
SB_OP(linalg_solve_ex,
      "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
      "(Tensor result, Tensor info)");
// RuntimeError for a singular matrix. As `torch.linalg.solve`.
SB_OP(linalg_solve, "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor");
SB_OP(linalg_solve_out, out_of(linalg_solve, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_SOLVE_H_
