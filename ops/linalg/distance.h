// Distances between rows, by a p-norm: p = 0 counts elements that differ, infinity takes the
// largest difference. float32 and float64.

#ifndef SWITCHBOARD_OPS_LINALG_DISTANCE_H_
#define SWITCHBOARD_OPS_LINALG_DISTANCE_H_
#include "switchboard/dispatch/typed_op.h"

namespace sb {

// x1 (*, n, k) and x2 (*, m, k) give (*, n, m), batches broadcast. compute_mode says where PyTorch
// may multiply matrices instead, and has no effect here.
SB_OP(cdist, "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor");
SB_OP(_cdist_forward,
      "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor");
// The gradient of x1, with all dimensions of the batch.
SB_OP(_cdist_backward,
      "aten::_cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> "
      "Tensor");

// Between all pairs of rows of (n, k), earlier ones first: n * (n - 1) / 2 distances.
SB_OP(pdist, "aten::pdist(Tensor self, float p=2.) -> Tensor");
SB_OP(_pdist_forward, "aten::_pdist_forward(Tensor self, float p=2.) -> Tensor");
SB_OP(_pdist_backward,
      "aten::_pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_DISTANCE_H_
