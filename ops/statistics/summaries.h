// Reductions beside those of reductions.h: without NaN, of extremes together, of exponentials and
// of what is not 0.

#ifndef SWITCHBOARD_OPS_STATISTICS_SUMMARIES_H_
#define SWITCHBOARD_OPS_STATISTICS_SUMMARIES_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The sum and the mean of what is not NaN, for real tensors and floating-point ones. No dims means
// all; elements are converted to `dtype`, or to out's, first. As `torch.nansum` and `nanmean`.
SB_OP(nansum,
      "aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(nansum_out, out_of(nansum, "out"));
SB_OP(nanmean,
      "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
      "ScalarType? dtype=None) -> Tensor");
SB_OP(nanmean_out, out_of(nanmean, "out"));
// The smallest and the largest element, along a dimension or of all. RuntimeError where there is
// none, IndexError for a dimension of size 0.
SB_OP(aminmax,
      "aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor "
      "min, Tensor max)");
SB_OP(aminmax_out, out_of(aminmax, "out", {"min", "max"}));
SB_OP(_aminmax, "aten::_aminmax(Tensor self) -> (Tensor, Tensor)");
SB_OP(_aminmax_dim,
      "aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)");
// The logarithm of the sum of the exponentials: floating-point, for real tensors.
SB_OP(logsumexp, "aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor");
SB_OP(logsumexp_out, out_of(logsumexp, "out"));
SB_OP(special_logsumexp,
      "aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor");
SB_OP(special_logsumexp_out, out_of(special_logsumexp, "out"));
// How many elements are not 0, as int64. No dims means all.
SB_OP(count_nonzero_dims, "aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor");
SB_OP(count_nonzero, "aten::count_nonzero(Tensor self, int? dim=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_SUMMARIES_H_
