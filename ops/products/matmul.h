// Matrix products. Operands have one dtype, any but bool; integers wrap, and 16-bit floats are
// multiplied in float32.

#ifndef SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_
#define SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// (m, k) @ (k, n); (m, k) @ (k); (k) . (k); (b, m, k) @ (b, k, n).
SB_OP(mm, "aten::mm(Tensor self, Tensor mat2) -> Tensor");
SB_OP(mm_out, out_of(mm, "out"));
SB_OP(mv, "aten::mv(Tensor self, Tensor vec) -> Tensor");
SB_OP(mv_out, out_of(mv, "out"));
SB_OP(dot, "aten::dot(Tensor self, Tensor tensor) -> Tensor");
SB_OP(dot_out, out_of(dot, "out"));
SB_OP(bmm, "aten::bmm(Tensor self, Tensor mat2) -> Tensor");
SB_OP(bmm_out, out_of(bmm, "out"));

// beta * self + alpha * product, `self` broadcast to the product's shape. Where beta is 0, what
// `self` holds (NaN too) does not count.
SB_OP(addmm,
      "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
      "Scalar alpha=1) -> Tensor");
SB_OP(addmm_, inplace_of(addmm));
SB_OP(addmm_out, out_of(addmm, "out"));
SB_OP(addmv,
      "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
      "Scalar alpha=1) -> Tensor");
SB_OP(addmv_, inplace_of(addmv));
SB_OP(addmv_out, out_of(addmv, "out"));
SB_OP(baddbmm,
      "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
      "Scalar alpha=1) -> Tensor");
SB_OP(baddbmm_, inplace_of(baddbmm));
SB_OP(baddbmm_out, out_of(baddbmm, "out"));

// beta * self + alpha * the sum of the products of all matrices of the batches: self and the result
// are matrices. In place, self takes the result's shape.
SB_OP(addbmm,
      "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar "
      "beta=1, Scalar alpha=1) -> Tensor");
SB_OP(addbmm_out, out_of(addbmm, "out"));
SB_OP(addbmm_,
      "aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
      "alpha=1) -> Tensor(a!)");

// Whichever of the above the numbers of dimensions ask for; batch dimensions broadcast.
SB_OP(matmul, "aten::matmul(Tensor self, Tensor other) -> Tensor");
SB_OP(matmul_out, out_of(matmul, "out"));
// input @ weight^T + bias: input (*, in), weight (out, in), bias (out).
SB_OP(linear, "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor");
SB_OP(linear_out, out_of(linear, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_PRODUCTS_MATMUL_H_
