// The gamma function and its relatives, the functions of the normal distribution, Bessel functions.
//
// Integral tensors are computed as floating point, of the default dtype; complex ones are not. As
// the functions of `torch` and `torch.special` of these names.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

SB_STRUCTURED(lgamma, "aten::lgamma(Tensor self) -> Tensor", "out");
SB_STRUCTURED(digamma, "aten::digamma(Tensor self) -> Tensor", "out");
// The n-th derivative of digamma. RuntimeError for a negative n.
SB_STRUCTURED_NO_INPLACE(polygamma, "aten::polygamma(int n, Tensor self) -> Tensor", "out");
SB_OP(polygamma_, "aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)");
// The regularised incomplete gamma functions. Floating-point tensors only.
SB_STRUCTURED(igamma, "aten::igamma(Tensor self, Tensor other) -> Tensor", "out");
SB_STRUCTURED(igammac, "aten::igammac(Tensor self, Tensor other) -> Tensor", "out");
// Hurwitz's zeta function.
SB_STRUCTURED_NO_INPLACE(special_zeta, "aten::special_zeta(Tensor self, Tensor other) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(special_zeta_other_scalar,
                         "aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
                         "other_scalar_out");
SB_STRUCTURED_NO_INPLACE(special_zeta_self_scalar,
                         "aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
                         "self_scalar_out");

SB_STRUCTURED(erfinv, "aten::erfinv(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_erfcx, "aten::special_erfcx(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_ndtr, "aten::special_ndtr(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_log_ndtr, "aten::special_log_ndtr(Tensor self) -> Tensor", "out");
// -x * log(x), 0 at 0, minus infinity below.
SB_STRUCTURED_NO_INPLACE(special_entr, "aten::special_entr(Tensor self) -> Tensor", "out");
// sin(x) / x.
SB_STRUCTURED_NO_INPLACE(special_spherical_bessel_j0,
                         "aten::special_spherical_bessel_j0(Tensor x) -> Tensor", "out");

SB_STRUCTURED(i0, "aten::i0(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_bessel_j0, "aten::special_bessel_j0(Tensor self) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(special_bessel_j1, "aten::special_bessel_j1(Tensor self) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(special_bessel_y0, "aten::special_bessel_y0(Tensor self) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(special_bessel_y1, "aten::special_bessel_y1(Tensor self) -> Tensor",
                         "out");
SB_STRUCTURED_NO_INPLACE(special_modified_bessel_i0,
                         "aten::special_modified_bessel_i0(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_modified_bessel_i1,
                         "aten::special_modified_bessel_i1(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_modified_bessel_k0,
                         "aten::special_modified_bessel_k0(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_modified_bessel_k1,
                         "aten::special_modified_bessel_k1(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_scaled_modified_bessel_k0,
                         "aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_scaled_modified_bessel_k1,
                         "aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_i0e, "aten::special_i0e(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_i1, "aten::special_i1(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_i1e, "aten::special_i1e(Tensor self) -> Tensor", "out");
SB_STRUCTURED_NO_INPLACE(special_ndtri, "aten::special_ndtri(Tensor self) -> Tensor", "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_
