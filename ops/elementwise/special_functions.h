// The gamma function and its relatives, the functions of the normal distribution, Bessel functions.
//
// Integral tensors are computed as floating point, of the default dtype; complex ones are not. As
// the functions of `torch` and `torch.special` of these names.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

SB_OP(lgamma, "aten::lgamma(Tensor self) -> Tensor");
SB_OP(lgamma_, inplace_of(lgamma));
SB_OP(lgamma_out, out_of(lgamma, "out"));
SB_OP(digamma, "aten::digamma(Tensor self) -> Tensor");
SB_OP(digamma_, inplace_of(digamma));
SB_OP(digamma_out, out_of(digamma, "out"));
// The n-th derivative of digamma. RuntimeError for a negative n.
SB_OP(polygamma, "aten::polygamma(int n, Tensor self) -> Tensor");
SB_OP(polygamma_out, out_of(polygamma, "out"));
SB_OP(polygamma_, "aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)");
// The logarithm of the multivariate gamma function of dimension p: the sum
// of lgamma(self - i / 2) for i < p, and p (p - 1) / 4 log(pi). RuntimeError for p < 1.
SB_OP(mvlgamma, "aten::mvlgamma(Tensor self, int p) -> Tensor");
SB_OP(mvlgamma_, inplace_of(mvlgamma));
SB_OP(mvlgamma_out, out_of(mvlgamma, "out"));
// The regularised incomplete gamma functions. Floating-point tensors only.
SB_OP(igamma, "aten::igamma(Tensor self, Tensor other) -> Tensor");
SB_OP(igamma_, inplace_of(igamma));
SB_OP(igamma_out, out_of(igamma, "out"));
SB_OP(igammac, "aten::igammac(Tensor self, Tensor other) -> Tensor");
SB_OP(igammac_, inplace_of(igammac));
SB_OP(igammac_out, out_of(igammac, "out"));
// Hurwitz's zeta function.
SB_OP(special_zeta, "aten::special_zeta(Tensor self, Tensor other) -> Tensor");
SB_OP(special_zeta_out, out_of(special_zeta, "out"));
SB_OP(special_zeta_other_scalar,
      "aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor");
SB_OP(special_zeta_other_scalar_out, out_of(special_zeta_other_scalar, "other_scalar_out"));
SB_OP(special_zeta_self_scalar,
      "aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor");
SB_OP(special_zeta_self_scalar_out, out_of(special_zeta_self_scalar, "self_scalar_out"));

SB_OP(erfinv, "aten::erfinv(Tensor self) -> Tensor");
SB_OP(erfinv_, inplace_of(erfinv));
SB_OP(erfinv_out, out_of(erfinv, "out"));
SB_OP(special_erfcx, "aten::special_erfcx(Tensor self) -> Tensor");
SB_OP(special_erfcx_out, out_of(special_erfcx, "out"));
SB_OP(special_ndtr, "aten::special_ndtr(Tensor self) -> Tensor");
SB_OP(special_ndtr_out, out_of(special_ndtr, "out"));
SB_OP(special_log_ndtr, "aten::special_log_ndtr(Tensor self) -> Tensor");
SB_OP(special_log_ndtr_out, out_of(special_log_ndtr, "out"));
// -x * log(x), 0 at 0, minus infinity below.
SB_OP(special_entr, "aten::special_entr(Tensor self) -> Tensor");
SB_OP(special_entr_out, out_of(special_entr, "out"));
// sin(x) / x.
SB_OP(special_spherical_bessel_j0, "aten::special_spherical_bessel_j0(Tensor x) -> Tensor");
SB_OP(special_spherical_bessel_j0_out, out_of(special_spherical_bessel_j0, "out"));

// Airy's function, the one that is 0 at infinity.
SB_OP(special_airy_ai, "aten::special_airy_ai(Tensor x) -> Tensor");
SB_OP(special_airy_ai_out, out_of(special_airy_ai, "out"));

SB_OP(i0, "aten::i0(Tensor self) -> Tensor");
SB_OP(i0_, inplace_of(i0));
SB_OP(i0_out, out_of(i0, "out"));
SB_OP(special_bessel_j0, "aten::special_bessel_j0(Tensor self) -> Tensor");
SB_OP(special_bessel_j0_out, out_of(special_bessel_j0, "out"));
SB_OP(special_bessel_j1, "aten::special_bessel_j1(Tensor self) -> Tensor");
SB_OP(special_bessel_j1_out, out_of(special_bessel_j1, "out"));
SB_OP(special_bessel_y0, "aten::special_bessel_y0(Tensor self) -> Tensor");
SB_OP(special_bessel_y0_out, out_of(special_bessel_y0, "out"));
SB_OP(special_bessel_y1, "aten::special_bessel_y1(Tensor self) -> Tensor");
SB_OP(special_bessel_y1_out, out_of(special_bessel_y1, "out"));
SB_OP(special_modified_bessel_i0, "aten::special_modified_bessel_i0(Tensor self) -> Tensor");
SB_OP(special_modified_bessel_i0_out, out_of(special_modified_bessel_i0, "out"));
SB_OP(special_modified_bessel_i1, "aten::special_modified_bessel_i1(Tensor self) -> Tensor");
SB_OP(special_modified_bessel_i1_out, out_of(special_modified_bessel_i1, "out"));
SB_OP(special_modified_bessel_k0, "aten::special_modified_bessel_k0(Tensor self) -> Tensor");
SB_OP(special_modified_bessel_k0_out, out_of(special_modified_bessel_k0, "out"));
SB_OP(special_modified_bessel_k1, "aten::special_modified_bessel_k1(Tensor self) -> Tensor");
SB_OP(special_modified_bessel_k1_out, out_of(special_modified_bessel_k1, "out"));
SB_OP(special_scaled_modified_bessel_k0,
      "aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor");
SB_OP(special_scaled_modified_bessel_k0_out, out_of(special_scaled_modified_bessel_k0, "out"));
SB_OP(special_scaled_modified_bessel_k1,
      "aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor");
SB_OP(special_scaled_modified_bessel_k1_out, out_of(special_scaled_modified_bessel_k1, "out"));
SB_OP(special_i0e, "aten::special_i0e(Tensor self) -> Tensor");
SB_OP(special_i0e_out, out_of(special_i0e, "out"));
SB_OP(special_i1, "aten::special_i1(Tensor self) -> Tensor");
SB_OP(special_i1_out, out_of(special_i1, "out"));
SB_OP(special_i1e, "aten::special_i1e(Tensor self) -> Tensor");
SB_OP(special_i1e_out, out_of(special_i1e, "out"));
SB_OP(special_ndtri, "aten::special_ndtri(Tensor self) -> Tensor");
SB_OP(special_ndtri_out, out_of(special_ndtri, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_SPECIAL_FUNCTIONS_H_
