// The singular values of matrices.

#ifndef SWITCHBOARD_OPS_STATISTICS_SINGULAR_VALUES_H_
#define SWITCHBOARD_OPS_STATISTICS_SINGULAR_VALUES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of the matrices in the last two dimensions of a floating-point (not 16-bit) or complex tensor,
// largest first; real. `driver` is for other devices: RuntimeError. As `torch.linalg.svdvals`.
SB_OP(linalg_svdvals, "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor");
SB_OP(linalg_svdvals_out, out_of(linalg_svdvals, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_SINGULAR_VALUES_H_
