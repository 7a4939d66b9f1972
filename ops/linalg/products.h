// Products of vectors, matrices and tensors, made of those in matmul.h.

#ifndef SWITCHBOARD_OPS_LINALG_PRODUCTS_H_
#define SWITCHBOARD_OPS_LINALG_PRODUCTS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// Vectors (n) and (m) give (n, m), in their common dtype.
SB_STRUCTURED_NO_INPLACE(outer, "aten::outer(Tensor self, Tensor vec2) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(ger, "aten::ger(Tensor self, Tensor vec2) -> Tensor", "out");
// beta * self + alpha * outer(vec1, vec2), self broadcast; where beta is 0, self does not count.
// Bool is computed with `and` and `or`. RuntimeError for factors of a category above the tensors'.
SB_STRUCTURED(addr,
              "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
              "-> Tensor",
              "out");

// dot with self conjugated.
SB_STRUCTURED_NO_INPLACE(vdot, "aten::vdot(Tensor self, Tensor other) -> Tensor", "out");
// Sums of products along the last dimension of both; a number multiplies.
SB_STRUCTURED_NO_INPLACE(inner, "aten::inner(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(kron, "aten::kron(Tensor self, Tensor other) -> Tensor", "out");
// Sums over pairs of dimensions, one of self and one of other; sizes of 1 broadcast. The other
// dimensions follow each other, self's first.
SB_STRUCTURED_NO_INPLACE(tensordot,
                         "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] "
                         "dims_other) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(linalg_matmul, "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(linalg_vecdot,
                         "aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "out");

// The product of several matrices, in the order that takes the fewest multiplications. The first
// and the last of linalg_multi_dot may be vectors.
SB_STRUCTURED_NO_INPLACE(linalg_multi_dot, "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(chain_matmul, "aten::chain_matmul(Tensor[] matrices) -> Tensor", "out");
// self to the nth power, of the inverse where n is negative.
SB_STRUCTURED_NO_INPLACE(linalg_matrix_power,
                         "aten::linalg_matrix_power(Tensor self, int n) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(matrix_power, "aten::matrix_power(Tensor self, int n) -> Tensor", "out");

// Along a dimension of 3 elements: for `cross` without a dim, the first of that size.
SB_STRUCTURED_NO_INPLACE(linalg_cross,
                         "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(cross, "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
                         "out");

// i1 * i2 * i3, summed over sumdim, after new dimensions of size 1 at the places that expand1, 2
// and 3 name. unroll_dim has no effect on the result.
SB_OP(_trilinear,
      "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
      "expand3, int[] sumdim, int unroll_dim=1) -> Tensor");
// input1 (*, n), weight (out, n, m), input2 (*, m), bias (out) give (*, out).
SB_OP(bilinear,
      "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor");

// The product of matrices of int8 or uint8, in int32. RuntimeError for others.
SB_STRUCTURED_NO_INPLACE(_int_mm, "aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_PRODUCTS_H_
