// Derivatives of norms of vectors. Where a norm is 0, it has no derivative: that counts as 0, as in
// PyTorch.

#include "switchboard/ops/statistics/norm.h"

#include <cmath>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/statistics/derivatives/reduced_dims.h"

namespace sb {
namespace {

// grad and norm broadcast to self.
Tensor broad_norm_gradient(const Tensor& grad, const Tensor& self, const Tensor& norm, double p,
                           IntArrayRef dims) {
  if (p == 0) return {};  // how many: steps
  if (p == 1) return mul(sgn(self), grad);
  if (std::isinf(p)) {
    // The largest magnitudes share the gradient, NaN among them.
    const Tensor magnitude = abs(self);
    const Tensor chosen = bitwise_or(eq(magnitude, norm), isnan(magnitude));
    const Tensor count = sum_dim(chosen, dims, /*keepdim=*/true);
    return mul(mul(sgn(self), div(grad, count)), chosen);
  }
  const Tensor none = eq_Scalar(norm, 0);
  const Tensor divisor = masked_fill(norm, none, 1);
  if (p == 2) return masked_fill(mul(grad, div(self, divisor)), none, 0);
  // The sign times (|x| / norm)^(p - 1), which for p < 1 has no limit at 0.
  const Tensor is_zero = eq_Scalar(self, 0);
  const Tensor ratio = div(masked_fill(abs(self), is_zero, 1), divisor);
  const Tensor power = masked_fill(pow_Tensor_Scalar(ratio, p - 1), is_zero, 0);
  return masked_fill(mul(mul(sgn(self), power), grad), none, 0);
}

Tensor norm_gradient(const Tensor& grad, const Tensor& self, const Tensor& norm, double p,
                     IntArrayRef dims, bool keepdim) {
  return broad_norm_gradient(with_reduced_dims(grad, dims, self.dim(), keepdim), self,
                             with_reduced_dims(norm, dims, self.dim(), keepdim), p, dims);
}
Tensor norm_gradient(const Tensor& grad, const Tensor& self, const Tensor& norm,
                     const std::optional<Scalar>& p, IntArrayRef dims = {}, bool keepdim = false) {
  return norm_gradient(grad, self, norm, p ? p->to<double>() : 2, dims, keepdim);
}

// With a dtype that the elements are converted to first, the norm is of that dtype, too. A norm is
// real, whatever its dtype.
Tensor norm_gradient_through(const Tensor& grad, const Tensor& self, const Tensor& norm,
                             const std::optional<Scalar>& p, DType dtype, IntArrayRef dims = {},
                             bool keepdim = false) {
  if (is_complex(dtype)) return norm_gradient(real(grad), self, real(norm), p, dims, keepdim);
  return norm_gradient(grad, is_complex(self.dtype()) ? real(self) : self, norm, p, dims, keepdim);
}

std::array<Tensor, 2> distance_gradients(const Tensor& grad, const Tensor& self,
                                         const Tensor& other, const Scalar& p,
                                         const Tensor& result) {
  const Tensor gradient = norm_gradient(grad, sub(self, other), result, p);
  if (!gradient.defined()) return {};
  return {gradient, neg(gradient)};
}

// Of the slices that are too large, scaled by maxnorm / norm.
Tensor renorm_gradient(const Tensor& grad, const Tensor& self, const Scalar& p, int64_t dim,
                       const Scalar& maxnorm) {
  DimVector dims;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != wrap_dim("renorm", dim, self.dim())) dims.push_back(d);
  const Tensor norm = linalg_vector_norm(self, p, dims, /*keepdim=*/true);
  // The kernel divides by a little more.
  const Tensor inverse = reciprocal(add_Scalar(norm, 1e-7));
  Tensor products = mul(conj(self), grad);
  if (is_complex(products.dtype())) products = real(products);
  const Tensor of_norm =
      norm_gradient(sum_dim(products, dims, /*keepdim=*/true), self, norm, p, dims, true);
  const Tensor scaled = mul_Scalar(mul(inverse, sub(grad, mul(inverse, of_norm))), maxnorm);
  return where(gt_Scalar(norm, maxnorm), to_dtype(scaled, grad.dtype()), grad);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, linalg_vector_norm,
         SB_GRAD(self, (grad, self, result, ord, dim, keepdim),
                 norm_gradient(grad, self, result, ord, reduced_dims(dim), keepdim)));
  derive(m, norm_Scalar,
         SB_GRAD(self, (grad, self, result, p), norm_gradient(grad, self, result, p)));
  derive(m, norm_ScalarOpt_dtype,
         SB_GRAD(self, (grad, self, result, p, dtype),
                 norm_gradient_through(grad, self, result, p, dtype)));
  derive(m, norm_dim,
         SB_GRAD(self, (grad, self, result, p, dim, keepdim),
                 norm_gradient(grad, self, result, p, dim, keepdim)));
  derive(m, norm_dim_dtype,
         SB_GRAD(self, (grad, self, result, p, dtype, dim, keepdim),
                 norm_gradient_through(grad, self, result, p, dtype, dim, keepdim)));
  derive(m, dist,
         SB_GRAD((self, other), (grad, self, other, p, result),
                 distance_gradients(grad, self, other, p, result)));
  derive(
      m, renorm,
      SB_GRAD(self, (grad, self, p, dim, maxnorm), renorm_gradient(grad, self, p, dim, maxnorm)));
}

}  // namespace
}  // namespace sb
