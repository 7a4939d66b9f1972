// The derivatives of clamp.h: what is at a limit follows self.

#include "switchboard/ops/elementwise/clamp.h"

#include <array>
#include <optional>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/select.h"

namespace sb {
namespace {

Tensor at_least(const Tensor& x, const Tensor& low) { return ge(x, low); }
Tensor at_least(const Tensor& x, const Scalar& low) { return ge_Scalar(x, low); }
Tensor at_most(const Tensor& x, const Tensor& high) { return le(x, high); }
Tensor at_most(const Tensor& x, const Scalar& high) { return le_Scalar(x, high); }

// At least one limit is given.
template <class Limit>
Tensor within_gradient(const Tensor& grad, const Tensor& self, const std::optional<Limit>& min,
                       const std::optional<Limit>& max) {
  Tensor within;
  if (min) within = at_least(self, *min);
  if (max) within = min ? logical_and(within, at_most(self, *max)) : at_most(self, *max);
  return where_ScalarOther(within, grad, 0);
}

// Where min is above max, max counts.
std::array<Tensor, 2> limit_gradients(const Tensor& grad, const Tensor& self,
                                      const std::optional<Tensor>& min,
                                      const std::optional<Tensor>& max,
                                      const std::array<bool, 2>& needs) {
  std::array<Tensor, 2> grads;
  if (needs[0]) {
    Tensor counts = lt(self, *min);
    if (max) counts = logical_and(counts, lt(*min, *max));
    grads[0] = where_ScalarOther(counts, grad, 0);
  }
  if (needs[1]) {
    Tensor counts = gt(self, *max);
    if (min) counts = logical_or(counts, lt(*max, *min));
    grads[1] = where_ScalarOther(counts, grad, 0);
  }
  return grads;
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, clamp, SB_GRAD(self, (grad, self, min, max), within_gradient(grad, self, min, max)));
  derive(m, clamp_min,
         SB_GRAD(self, (grad, self, min), where_ScalarOther(ge_Scalar(self, min), grad, 0)));
  derive(m, clamp_max,
         SB_GRAD(self, (grad, self, max), where_ScalarOther(le_Scalar(self, max), grad, 0)));

  derive(m, clamp_Tensor,
         SB_GRAD(self, (grad, self, min, max), within_gradient(grad, self, min, max)),
         SB_GRAD((min, max), (grad, self, min, max, needs),
                 limit_gradients(grad, self, min, max, needs)));
  derive(m, clamp_min_Tensor,
         SB_GRAD(self, (grad, self, min), where_ScalarOther(ge(self, min), grad, 0)),
         SB_GRAD(min, (grad, self, min), where_ScalarOther(lt(self, min), grad, 0)));
  derive(m, clamp_max_Tensor,
         SB_GRAD(self, (grad, self, max), where_ScalarOther(le(self, max), grad, 0)),
         SB_GRAD(max, (grad, self, max), where_ScalarOther(gt(self, max), grad, 0)));

  derive(m, hardtanh,
         SB_GRAD(self, (grad, self, min_val, max_val),
                 hardtanh_backward(grad, self, min_val, max_val)));
}

}  // namespace
}  // namespace sb
