// The gradients of distances have operators of their own, which keep no tensor of all differences.
// Theirs, which are wanted for second derivatives, are made of elementwise operators.

#include "switchboard/ops/linalg/distance.h"

#include <cmath>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// How the distance d of two rows changes with an element u of their difference,
//
//   slope(u, d) = sign(u) (|u| / d)^(p - 1),
//
// and how that changes with both, undefined where it does not. All are 0 where d is.
struct Slopes {
  Tensor slope, by_difference, by_distance;
};

Slopes slopes_of(const Tensor& difference, const Tensor& distance, double p) {
  const Tensor sign = sgn(difference), size = abs(difference);
  if (p == 0) return {zeros_like(difference), {}, {}};
  if (p == 1) return {sign, {}, {}};
  if (std::isinf(p)) return {mul(sign, eq(size, distance)), {}, {}};
  const Tensor equal = eq_Scalar(distance, 0);
  const Tensor d = masked_fill(distance, equal, 1);
  // Powers of 0 that are infinite, or whose derivative is, count as 0. An exponent of 0 is that of
  // a slope that is constant.
  const auto power = [&](double exponent) {
    if (exponent >= 1 || exponent == 0) return pow_Tensor_Scalar(div(size, d), exponent);
    const Tensor zero = eq_Scalar(size, 0);
    return masked_fill(pow_Tensor_Scalar(div(masked_fill(size, zero, 1), d), exponent), zero, 0);
  };
  const Tensor slope = mul(sign, power(p - 1));
  return {slope, masked_fill(mul_Scalar(div(power(p - 2), d), p - 1), equal, 0),
          mul_Scalar(div(slope, d), 1 - p)};
}

Tensor product_or_undefined(const Tensor& a, const Tensor& b) {
  return b.defined() ? mul(a, b) : Tensor();
}
Tensor sum_or_undefined(const Tensor& t, int64_t dim) {
  return t.defined() ? sum_dim(t, {dim}) : Tensor();
}
Tensor neg_or_undefined(const Tensor& t) { return t.defined() ? neg(t) : t; }

using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// Of what _cdist_backward computes: a sum over x2's rows of grad times slope.
FourTensors cdist_double_gradients(const Tensor& outer, const Tensor& grad, const Tensor& x1,
                                   const Tensor& x2, double p, const Tensor& cdist) {
  const Slopes s = slopes_of(sub(unsqueeze(x1, -2), unsqueeze(x2, -3)), unsqueeze(cdist, -1), p);
  const Tensor of_rows = unsqueeze(outer, -2), factor = mul(of_rows, unsqueeze(grad, -1));
  const Tensor by_difference = product_or_undefined(factor, s.by_difference);
  return {sum_dim(mul(of_rows, s.slope), {-1}), sum_or_undefined(by_difference, -2),
          neg_or_undefined(sum_or_undefined(by_difference, -3)),
          sum_or_undefined(product_or_undefined(factor, s.by_distance), -1)};
}

// The same for pairs (i, j) of self's rows: row i has the sum of grad times slope, row j less that.
std::tuple<Tensor, Tensor, Tensor> pdist_double_gradients(const Tensor& outer, const Tensor& grad,
                                                          const Tensor& self, double p,
                                                          const Tensor& pdist) {
  const int64_t n = self.size(0);
  const Tensor pairs =
      triu_indices(n, n, 1, DType::Int64, std::nullopt, self.device(), std::nullopt);
  const Tensor i = select(pairs, 0, 0), j = select(pairs, 0, 1);
  const auto difference = [&](const Tensor& rows) {
    return sub(index_select(rows, 0, i), index_select(rows, 0, j));
  };
  const Slopes s = slopes_of(difference(self), unsqueeze(pdist, -1), p);
  const Tensor of_pairs = difference(outer), factor = mul(of_pairs, unsqueeze(grad, -1));
  Tensor of_self;
  if (s.by_difference.defined()) {
    const Tensor terms = mul(factor, s.by_difference);
    of_self = index_add(index_add(zeros_like(self), 0, i, terms), 0, j, neg(terms));
  }
  return {sum_dim(mul(of_pairs, s.slope), {-1}), of_self,
          sum_or_undefined(product_or_undefined(factor, s.by_distance), -1)};
}

Tensor swapped(const Tensor& t) { return transpose(t, -2, -1); }

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, _cdist_forward,
         SB_GRAD(x1, (grad, x1, x2, p, result), _cdist_backward(grad, x1, x2, p, result)),
         SB_GRAD(x2, (grad, x1, x2, p, result),
                 _cdist_backward(swapped(grad), x2, x1, p, swapped(result))));
  derive(m, _cdist_backward,
         SB_GRAD((grad_output, x1, x2, cdist), (grad0, grad_output, x1, x2, p, cdist),
                 cdist_double_gradients(grad0, grad_output, x1, x2, p, cdist)));
  derive(m, _pdist_forward,
         SB_GRAD(self, (grad, self, p, result), _pdist_backward(grad, self, p, result)));
  derive(m, _pdist_backward,
         SB_GRAD((grad_output, self, pdist), (grad0, grad_output, self, p, pdist),
                 pdist_double_gradients(grad0, grad_output, self, p, pdist)));
}

}  // namespace sb
