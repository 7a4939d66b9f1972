#include "switchboard/ops/statistics/variance.h"

#include <limits>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/statistics/derivatives/reduced_dims.h"

namespace sb {
namespace {

// A call of one of the four operators.
struct Call {
  const Tensor& self;
  const OptionalIntArrayRef& dim;
  const std::optional<Scalar>& correction;
  bool keepdim;

  IntArrayRef dims() const { return reduced_dims(dim); }
  Tensor broad(const Tensor& t) const { return with_reduced_dims(t, dims(), self.dim(), keepdim); }
  // Of how many elements each result is made.
  SymInt count() const {
    if (dims().empty() || self.dim() == 0) return self.sym_numel();
    SymInt n = 1;
    for (int64_t d : dims()) n *= self.sym_size(d);
    return n;
  }

  // From the gradient of the mean.
  Tensor mean_gradient(const Tensor& grad) const {
    return expand(over_count(broad(grad), 0), self.sym_sizes());
  }
  Tensor variance_gradient(const Tensor& grad) const {
    if (is_of_too_few()) {  // as PyTorch, which says infinite where 0 / 0 would give NaN
      const Tensor endless = mul_Scalar(broad(grad), std::numeric_limits<double>::infinity());
      return expand(endless, self.sym_sizes());
    }
    const Tensor distances = sub(self, mean_dim(self, dims(), /*keepdim=*/true));
    const Tensor twice = mul_Scalar(broad(grad), 2);
    return mul(over_count(twice, less()), distances);
  }
  // Where nothing varies the root has no derivative: it counts as 0.
  Tensor deviation_gradient(const Tensor& grad, const Tensor& result) const {
    const Tensor none = eq_Scalar(result, 0);
    const Tensor half = div(grad, mul_Scalar(masked_fill(result, none, 1), 2));
    return variance_gradient(masked_fill(half, none, 0));
  }

 private:
  // What the count is less by.
  double less() const { return correction ? correction->to<double>() : 1; }
  // Of all elements at once, when none are left after the correction.
  bool is_of_too_few() const {
    if (!dims().empty() && self.dim() != 0) return false;
    const SymInt n = count();
    return !n.is_symbolic() && static_cast<double>(n.expect_int()) == less();
  }
  Tensor over_count(const Tensor& t, double less) const {
    return div_Scalar(t, sym_float(count()) - less);
  }
};

// Of the operators with two results, of which either may go unused.
Tensor plus(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? add(a, b) : a;
}
Tensor with_mean(const Call& call, const Tensor& variance_gradient, const Tensor& mean_grad) {
  return plus(variance_gradient, mean_grad.defined() ? call.mean_gradient(mean_grad) : Tensor());
}
Tensor variance_and_mean(const Call& call, const Tensor& grad0, const Tensor& grad1) {
  return with_mean(call, grad0.defined() ? call.variance_gradient(grad0) : Tensor(), grad1);
}
Tensor deviation_and_mean(const Call& call, const Tensor& grad0, const Tensor& grad1,
                          const Tensor& result) {
  return with_mean(call, grad0.defined() ? call.deviation_gradient(grad0, result) : Tensor(),
                   grad1);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, var_correction,
         SB_GRAD(self, (grad, self, dim, correction, keepdim),
                 Call{self, dim, correction, keepdim}.variance_gradient(grad)));
  derive(m, std_correction,
         SB_GRAD(self, (grad, self, result, dim, correction, keepdim),
                 Call{self, dim, correction, keepdim}.deviation_gradient(grad, result)));
  derive(m, var_mean_correction,
         SB_GRAD(self, (grad0, grad1, self, dim, correction, keepdim),
                 variance_and_mean({self, dim, correction, keepdim}, grad0, grad1)));
  derive(m, std_mean_correction,
         SB_GRAD(self, (grad0, grad1, self, result0, dim, correction, keepdim),
                 deviation_and_mean({self, dim, correction, keepdim}, grad0, grad1, result0)));
}

}  // namespace
}  // namespace sb
