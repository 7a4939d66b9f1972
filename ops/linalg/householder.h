// Reflections H = I - tau v v^H, which a tall matrix has below its diagonal: v has 1 there and 0
// above. Q is the product of those of all columns that tau has.

#ifndef SWITCHBOARD_OPS_LINALG_HOUSEHOLDER_H_
#define SWITCHBOARD_OPS_LINALG_HOUSEHOLDER_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The factor R of A = Q R, and below it the reflections of Q.
SB_OP(geqrf, "aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)");
// The first columns of Q, as many as input has. orgqr is the same.
SB_OP(linalg_householder_product,
      "aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor");
SB_OP(linalg_householder_product_out, out_of(linalg_householder_product, "out"));
SB_OP(orgqr, "aten::orgqr(Tensor self, Tensor input2) -> Tensor");
SB_OP(orgqr_out, out_of(orgqr, "out"));
// Q C, or C Q if not left, or with Q^H for Q; input2 is tau, input3 is C. RuntimeError for shapes
// and dtypes that do not fit.
SB_OP(ormqr,
      "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool "
      "transpose=False) -> Tensor");
SB_OP(ormqr_out, out_of(ormqr, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_HOUSEHOLDER_H_
