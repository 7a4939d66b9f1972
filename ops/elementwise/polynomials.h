// Orthogonal polynomials, of degree n at x.
//
// Floating point; integers are computed as the default dtype, and n is truncated. 0 for a negative
// n. As the functions of `torch.special` of these names. They have no derivative.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_POLYNOMIALS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_POLYNOMIALS_H_
#include "switchboard/ops/define/forms.h"

// A polynomial, and its forms with a number for x or n.
#define SB_POLYNOMIAL(name)                                                         \
  SB_OP(name, "aten::" #name "(Tensor x, Tensor n) -> Tensor");                     \
  SB_OP(name##_out, out_of(name, "out"));                                           \
  SB_OP(name##_x_scalar, "aten::" #name ".x_scalar(Scalar x, Tensor n) -> Tensor"); \
  SB_OP(name##_x_scalar_out, out_of(name##_x_scalar, "x_scalar_out"));              \
  SB_OP(name##_n_scalar, "aten::" #name ".n_scalar(Tensor x, Scalar n) -> Tensor"); \
  SB_OP(name##_n_scalar_out, out_of(name##_n_scalar, "n_scalar_out"))

namespace sb {

// Chebyshev's, of the first to the fourth kind.
SB_POLYNOMIAL(special_chebyshev_polynomial_t);
SB_POLYNOMIAL(special_chebyshev_polynomial_u);
SB_POLYNOMIAL(special_chebyshev_polynomial_v);
SB_POLYNOMIAL(special_chebyshev_polynomial_w);
// The same at 2 x - 1.
SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_t);
SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_u);
SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_v);
SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_w);
// Hermite's of the physicists, and of the probabilists.
SB_POLYNOMIAL(special_hermite_polynomial_h);
SB_POLYNOMIAL(special_hermite_polynomial_he);
SB_POLYNOMIAL(special_laguerre_polynomial_l);
SB_POLYNOMIAL(special_legendre_polynomial_p);

}  // namespace sb
#undef SB_POLYNOMIAL

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_POLYNOMIALS_H_
