// Norms of matrices, and the operators that take either.

#ifndef SWITCHBOARD_OPS_LINALG_MATRIX_NORM_H_
#define SWITCHBOARD_OPS_LINALG_MATRIX_NORM_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Of the matrices in two dimensions of a floating-point or complex tensor. Orders: 1 and -1 (the
// largest and smallest sum of magnitudes of a column), inf and -inf (of a row), 2 and -2 (the
// largest and smallest singular value), "fro" (the norm of all elements), "nuc" (the sum of the
// singular values). As `torch.linalg.matrix_norm`.
SB_OP(linalg_matrix_norm,
      "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], "
      "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor");
SB_OP(linalg_matrix_norm_out, out_of(linalg_matrix_norm, "out"));
SB_OP(linalg_matrix_norm_str,
      "aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] "
      "dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor");
SB_OP(linalg_matrix_norm_str_out, out_of(linalg_matrix_norm_str, "str_ord_out"));
// Of vectors along one dimension, of matrices in two, or without an order of all elements. As
// `torch.linalg.norm`.
SB_OP(linalg_norm,
      "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool "
      "keepdim=False, *, ScalarType? dtype=None) -> Tensor");
SB_OP(linalg_norm_out, out_of(linalg_norm, "out"));
SB_OP(linalg_norm_str,
      "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool "
      "keepdim=False, *, ScalarType? dtype=None) -> Tensor");
SB_OP(linalg_norm_str_out, out_of(linalg_norm_str, "ord_str_out"));
// For old programs.
SB_OP(frobenius_norm, "aten::frobenius_norm(Tensor self) -> Tensor");
SB_OP(frobenius_norm_dim,
      "aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor");
SB_OP(frobenius_norm_dim_out, out_of(frobenius_norm_dim, "out"));
SB_OP(nuclear_norm, "aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor");
SB_OP(nuclear_norm_out, out_of(nuclear_norm, "out"));
SB_OP(nuclear_norm_dim,
      "aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor");
SB_OP(nuclear_norm_dim_out, out_of(nuclear_norm_dim, "dim_out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_MATRIX_NORM_H_
