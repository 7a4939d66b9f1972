// Matrix products. Operands have one dtype, any but bool; integers wrap, and 16-bit floats are
// multiplied in float32.

#ifndef SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_
#define SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// (m, k) @ (k, n); (m, k) @ (k); (k) . (k); (b, m, k) @ (b, k, n).
SB_STRUCTURED_NO_INPLACE(mm, "aten::mm(Tensor self, Tensor mat2) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(mv, "aten::mv(Tensor self, Tensor vec) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(dot, "aten::dot(Tensor self, Tensor tensor) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(bmm, "aten::bmm(Tensor self, Tensor mat2) -> Tensor", "out");

// beta * self + alpha * product, `self` broadcast to the product's shape. Where beta is 0, what
// `self` holds (NaN too) does not count.
SB_STRUCTURED(addmm,
              "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
              "Scalar alpha=1) -> Tensor",
              "out");
SB_STRUCTURED(addmv,
              "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
              "Scalar alpha=1) -> Tensor",
              "out");
SB_STRUCTURED(baddbmm,
              "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
              "Scalar alpha=1) -> Tensor",
              "out");

// beta * self + alpha * the sum of the products of all matrices of the batches: self and the result
// are matrices. In place, self takes the result's shape.
SB_STRUCTURED_NO_INPLACE(addbmm,
                         "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar "
                         "beta=1, Scalar alpha=1) -> Tensor",
                         "out");
SB_OP(addbmm_,
      "aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
      "alpha=1) -> Tensor(a!)");

// Whichever of the above the numbers of dimensions ask for; batch dimensions broadcast.
SB_STRUCTURED_NO_INPLACE(matmul, "aten::matmul(Tensor self, Tensor other) -> Tensor", "out");
// input @ weight^T + bias: input (*, in), weight (out, in), bias (out).
SB_STRUCTURED_NO_INPLACE(linear,
                         "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
                         "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_
