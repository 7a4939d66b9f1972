// Norms of vectors: of all elements, or along dimensions.

#ifndef SWITCHBOARD_OPS_STATISTICS_NORM_H_
#define SWITCHBOARD_OPS_STATISTICS_NORM_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The sum of |x|^ord, to the power of 1 / ord: real, for floating-point and complex tensors. `ord`
// may be 0 (how many are not 0), inf and -inf (the largest and smallest magnitude), or negative.
// Elements are converted to `dtype` first. RuntimeError for nothing to take an inf or negative norm
// of. No dims means all. As `torch.linalg.vector_norm`.
SB_OP(linalg_vector_norm,
      "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, "
      "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor");
SB_OP(linalg_vector_norm_out, out_of(linalg_vector_norm, "out"));

// The same for old programs, without an order of norm 2. As `torch.norm`.
SB_OP(norm_Scalar, "aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor");
SB_OP(norm_ScalarOpt_dtype,
      "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor");
SB_OP(norm_dim,
      "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool "
      "keepdim=False) -> Tensor");
SB_OP(norm_dim_out, out_of(norm_dim, "out"));
SB_OP(norm_dim_dtype,
      "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool "
      "keepdim, *, ScalarType dtype) -> Tensor");
SB_OP(norm_dim_dtype_out, out_of(norm_dim_dtype, "dtype_out"));

// Scales each slice along `dim` whose norm is greater than maxnorm down to it. As `torch.renorm`.
SB_OP(renorm, "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor");
SB_OP(renorm_, inplace_of(renorm));
SB_OP(renorm_out, out_of(renorm, "out"));
// The norm of self - other.
SB_OP(dist, "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_STATISTICS_NORM_H_
