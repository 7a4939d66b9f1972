// Variance and standard deviation.

#ifndef SWITCHBOARD_OPS_STATISTICS_VARIANCE_H_
#define SWITCHBOARD_OPS_STATISTICS_VARIANCE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of floating-point and complex tensors; complex ones have real variances. The squared distances
// from the mean are divided by the count less `correction`, which is 1 where it is not given and
// where `unbiased`, else 0. No dims means all. An out of another dtype has the elements converted
// to it first.
SB_OP(var_all, "aten::var(Tensor self, bool unbiased=True) -> Tensor");
SB_OP(var_dim,
      "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
      "keepdim=False) -> Tensor");
SB_OP(var_dim_out, out_of(var_dim, "out"));
SB_OP(var_correction,
      "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
      "keepdim=False) -> Tensor");
SB_OP(var_correction_out, out_of(var_correction, "correction_out"));
SB_OP(std_all, "aten::std(Tensor self, bool unbiased=True) -> Tensor");
SB_OP(std_dim,
      "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
      "keepdim=False) -> Tensor");
SB_OP(std_dim_out, out_of(std_dim, "out"));
SB_OP(std_correction,
      "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
      "keepdim=False) -> Tensor");
SB_OP(std_correction_out, out_of(std_correction, "correction_out"));

// With the mean, which is complex for complex tensors.
SB_OP(var_mean_all, "aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)");
SB_OP(var_mean_dim,
      "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
      "(Tensor, Tensor)");
SB_OP(var_mean_correction,
      "aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
      "keepdim=False) -> (Tensor, Tensor)");
SB_OP(std_mean_all, "aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)");
SB_OP(std_mean_dim,
      "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
      "(Tensor, Tensor)");
SB_OP(std_mean_correction,
      "aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
      "keepdim=False) -> (Tensor, Tensor)");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_VARIANCE_H_
