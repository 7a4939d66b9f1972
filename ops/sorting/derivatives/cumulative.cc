// Derivatives of running sums, products and extremes. An element acts on all results from its own
// place on, so that gradients are summed from the end.

#include "switchboard/ops/sorting/cumulative.h"

#include <limits>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb {
namespace {

// f along `dim`, from the end.
template <class F>
Tensor from_the_end(const Tensor& t, int64_t dim, F&& f) {
  return flip(f(flip(t, {dim})), {dim});
}
Tensor reverse_cumsum(const Tensor& t, int64_t dim) {
  return from_the_end(t, dim, [&](const Tensor& x) { return cumsum(x, dim); });
}

// Behind its first zero a product is 0, and has a gradient for that zero alone.
Tensor cumprod_gradient(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  const Tensor x = to_dtype(self, grad.dtype());
  const Tensor is_zero = eq_Scalar(x, 0);
  const Tensor zeros_so_far = cumsum(is_zero, dim);
  // The sums of grad over the products, with some elements of x taken out of these.
  const auto sums_without = [&](const Tensor& taken) {
    return reverse_cumsum(mul(grad, conj(cumprod(masked_fill(x, taken, 1), dim))), dim);
  };
  const Tensor first = bitwise_and(is_zero, eq_Scalar(zeros_so_far, 1));
  const Tensor elsewhere =
      div(reverse_cumsum(mul(grad, conj(result)), dim), conj(masked_fill(x, is_zero, 1)));
  const Tensor gradient = where(first, sums_without(first), elsewhere);
  if (!is_grad_enabled()) return gradient;
  // That of the second zero has the first for a factor: it is 0, but its derivative is not.
  const Tensor second = bitwise_and(is_zero, eq_Scalar(zeros_so_far, 2));
  const Tensor factor = sum(masked_fill(x, bitwise_not(first), 0), {dim}, /*keepdim=*/true);
  return where(second, mul(conj(factor), sums_without(bitwise_or(first, second))), gradient);
}

double lowest(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::numeric_limits<double>::lowest();
    case DType::BFloat16:
      return -0x1.fep127;
    default:
      return std::numeric_limits<float>::lowest();
  }
}

// exp(self) times the sums of grad / exp(result), which would overflow: by logarithms, those of
// positive and those of negative gradients apart, as in PyTorch.
Tensor logcumsumexp_gradient(const Tensor& grad, const Tensor& self, const Tensor& result,
                             int64_t dim) {
  if (grad.dim() == 0) return grad;  // infinite numbers have theirs, too
  if (is_complex(grad.dtype())) {
    // Complex numbers have logarithms whatever their sign; for 0 stands what is near, which has a
    // derivative.
    const Tensor logs = log(conj(add(grad, mul_Scalar(eq_Scalar(grad, 0), 1e-30))));
    const Tensor sums =
        from_the_end(sub(logs, result), dim, [&](const Tensor& x) { return logcumsumexp(x, dim); });
    return conj(exp(add(sums, self)));
  }
  const double none = lowest(grad.dtype());
  const auto part = [&](const Tensor& g) {
    const Tensor is_positive = gt_Scalar(g, 0);
    const Tensor logs =
        where_ScalarOther(is_positive, log(where_ScalarOther(is_positive, g, 1)), none);
    const Tensor sums =
        from_the_end(sub(logs, result), dim, [&](const Tensor& x) { return logcumsumexp(x, dim); });
    return exp(add(sums, self));
  };
  // A gradient of 0 is the difference of two equal numbers: it has logarithms, too, and so a
  // derivative of its own.
  const Tensor tiny = mul_Scalar(eq_Scalar(grad, 0), 1e-30);
  const Tensor positive = add(grad, tiny);
  const Tensor negative = where(eq_Scalar(grad, 0), tiny, neg(grad));
  return sub(part(positive), part(negative));
}

Tensor extreme_gradient(const Tensor& grad, const Tensor& self, int64_t dim,
                        const Tensor& indices) {
  return scatter_add_(new_zeros(grad, self.sym_sizes()), dim, indices, grad);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, cumsum, SB_GRAD(self, (grad, dim), reverse_cumsum(grad, dim)));
  derive(m, cumprod,
         SB_GRAD(self, (grad, self, result, dim), cumprod_gradient(grad, self, result, dim)));
  derive(m, logcumsumexp,
         SB_GRAD(self, (grad, self, result, dim), logcumsumexp_gradient(grad, self, result, dim)));
  derive(m, _logcumsumexp,
         SB_GRAD(self, (grad, self, result, dim), logcumsumexp_gradient(grad, self, result, dim)));
  derive(m, cummax,
         SB_GRAD(self, (grad, self, dim, indices), extreme_gradient(grad, self, dim, indices)));
  derive(m, cummin,
         SB_GRAD(self, (grad, self, dim, indices), extreme_gradient(grad, self, dim, indices)));
}

}  // namespace
}  // namespace sb
