// Products of vectors, matrices and tensors, made of those in matmul.h.

#ifndef SWITCHBOARD_OPS_LINALG_PRODUCTS_H_
#define SWITCHBOARD_OPS_LINALG_PRODUCTS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// Vectors (n) and (m) give (n, m), in their common dtype.
SB_OP(outer, "aten::outer(Tensor self, Tensor vec2) -> Tensor");
SB_OP(outer_out, out_of(outer, "out"));
SB_OP(ger, "aten::ger(Tensor self, Tensor vec2) -> Tensor");
SB_OP(ger_out, out_of(ger, "out"));
// beta * self + alpha * outer(vec1, vec2), self broadcast; where beta is 0, self does not count.
// Bool is computed with `and` and `or`. RuntimeError for factors of a category above the tensors'.
SB_OP(addr,
      "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
      "-> Tensor");
SB_OP(addr_, inplace_of(addr));
SB_OP(addr_out, out_of(addr, "out"));

// dot with self conjugated.
SB_OP(vdot, "aten::vdot(Tensor self, Tensor other) -> Tensor");
SB_OP(vdot_out, out_of(vdot, "out"));
// Sums of products along the last dimension of both; a number multiplies.
SB_OP(inner, "aten::inner(Tensor self, Tensor other) -> Tensor");
SB_OP(inner_out, out_of(inner, "out"));
SB_OP(kron, "aten::kron(Tensor self, Tensor other) -> Tensor");
SB_OP(kron_out, out_of(kron, "out"));
// Sums over pairs of dimensions, one of self and one of other; sizes of 1 broadcast. The other
// dimensions follow each other, self's first.
SB_OP(tensordot,
      "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] "
      "dims_other) -> Tensor");
SB_OP(tensordot_out, out_of(tensordot, "out"));
SB_OP(linalg_matmul, "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor");
SB_OP(linalg_matmul_out, out_of(linalg_matmul, "out"));
SB_OP(linalg_vecdot, "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor");
SB_OP(linalg_vecdot_out, out_of(linalg_vecdot, "out"));

// The product of several matrices, in the order that takes the fewest multiplications. The first
// and the last of linalg_multi_dot may be vectors.
SB_OP(linalg_multi_dot, "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor");
SB_OP(linalg_multi_dot_out, out_of(linalg_multi_dot, "out"));
SB_OP(chain_matmul, "aten::chain_matmul(Tensor[] matrices) -> Tensor");
SB_OP(chain_matmul_out, out_of(chain_matmul, "out"));
// self to the nth power, of the inverse where n is negative.
SB_OP(linalg_matrix_power, "aten::linalg_matrix_power(Tensor self, int n) -> Tensor");
SB_OP(linalg_matrix_power_out, out_of(linalg_matrix_power, "out"));
SB_OP(matrix_power, "aten::matrix_power(Tensor self, int n) -> Tensor");
SB_OP(matrix_power_out, out_of(matrix_power, "out"));

// Along a dimension of 3 elements: for `cross` without a dim, the first of that size.
SB_OP(linalg_cross, "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor");
SB_OP(linalg_cross_out, out_of(linalg_cross, "out"));
SB_OP(cross, "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor");
SB_OP(cross_out, out_of(cross, "out"));

// i1 * i2 * i3, summed over sumdim, after new dimensions of size 1 at the places that expand1, 2
// and 3 name. unroll_dim has no effect on the result.
SB_OP(_trilinear,
      "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
      "expand3, int[] sumdim, int unroll_dim=1) -> Tensor");
// input1 (*, n), weight (out, n, m), input2 (*, m), bias (out) give (*, out).
SB_OP(bilinear,
      "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor");

// The product of matrices of int8 or uint8, in int32. RuntimeError for others.
SB_OP(_int_mm, "aten::_int_mm(Tensor self, Tensor mat2) -> Tensor");
SB_OP(_int_mm_out, out_of(_int_mm, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_PRODUCTS_H_
