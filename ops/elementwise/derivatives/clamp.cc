// The derivatives of clamp.h. At a limit that is a number self has no gradient; with one that is a
// tensor it shares that of the place, half each. As PyTorch.

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

// Where `all` holds the gradient, where `half` does half of it, and 0 elsewhere.
Tensor share(const Tensor& grad, const Tensor& all, const Tensor& half) {
  return where(half, mul_Scalar(grad, 0.5), where_ScalarOther(all, grad, 0));
}

Tensor within_numbers(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max) {
  Tensor within;
  if (min) within = gt_Scalar(self, *min);
  if (max) {
    const Tensor below = lt_Scalar(self, *max);
    within = min ? logical_and(within, below) : below;
  }
  return where_ScalarOther(within, grad, 0);
}

// Where min is above max, max counts; where they are equal, neither shares with self.
std::array<Tensor, 3> clamp_gradients(const Tensor& grad, const Tensor& self, const Tensor& min,
                                      const Tensor& max, const std::array<bool, 3>& needs) {
  const Tensor below = lt(self, min), above = gt(self, max), apart = lt(min, max);
  const Tensor at_min = logical_and(eq(self, min), apart);
  const Tensor at_max = logical_and(eq(self, max), apart);
  const Tensor ordered = le(min, max);
  std::array<Tensor, 3> grads;
  if (needs[0])
    grads[0] = share(grad, logical_not(logical_or(below, above)), logical_or(at_min, at_max));
  if (needs[1]) grads[1] = share(grad, logical_and(below, ordered), at_min);
  if (needs[2]) {
    const Tensor counts = logical_or(logical_and(above, ordered), lt(max, min));
    grads[2] = share(grad, counts, at_max);
  }
  return grads;
}

// `outside` is where the limit counts, and `inside` where self does.
std::array<Tensor, 2> limited_gradients(const Tensor& grad, const Tensor& self, const Tensor& limit,
                                        const Tensor& outside, const Tensor& inside,
                                        const std::array<bool, 2>& needs) {
  const Tensor at = eq(self, limit);
  std::array<Tensor, 2> grads;
  if (needs[0]) grads[0] = share(grad, logical_not(outside), at);
  if (needs[1]) grads[1] = share(grad, logical_not(inside), at);
  return grads;
}
std::array<Tensor, 2> clamp_min_gradients(const Tensor& grad, const Tensor& self, const Tensor& min,
                                          const std::array<bool, 2>& needs) {
  return limited_gradients(grad, self, min, lt(self, min), gt(self, min), needs);
}
std::array<Tensor, 2> clamp_max_gradients(const Tensor& grad, const Tensor& self, const Tensor& max,
                                          const std::array<bool, 2>& needs) {
  return limited_gradients(grad, self, max, gt(self, max), lt(self, max), needs);
}

// At least one limit is given.
std::array<Tensor, 3> clamp_tensor_gradients(const Tensor& grad, const Tensor& self,
                                             const std::optional<Tensor>& min,
                                             const std::optional<Tensor>& max,
                                             const std::array<bool, 3>& needs) {
  const auto is_there = [](const std::optional<Tensor>& t) { return t && t->defined(); };
  if (is_there(min) && is_there(max)) return clamp_gradients(grad, self, *min, *max, needs);
  if (is_there(min)) {
    auto [of_self, of_min] = clamp_min_gradients(grad, self, *min, {needs[0], needs[1]});
    return {of_self, of_min, Tensor()};
  }
  auto [of_self, of_max] = clamp_max_gradients(grad, self, *max, {needs[0], needs[2]});
  return {of_self, Tensor(), of_max};
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, clamp, SB_GRAD(self, (grad, self, min, max), within_numbers(grad, self, min, max)));
  derive(m, clamp_min,
         SB_GRAD(self, (grad, self, min), where_ScalarOther(gt_Scalar(self, min), grad, 0)));
  derive(m, clamp_max,
         SB_GRAD(self, (grad, self, max), where_ScalarOther(lt_Scalar(self, max), grad, 0)));

  derive(m, clamp_Tensor,
         SB_GRAD((self, min, max), (grad, self, min, max, needs),
                 clamp_tensor_gradients(grad, self, min, max, needs)));
  derive(
      m, clamp_min_Tensor,
      SB_GRAD((self, min), (grad, self, min, needs), clamp_min_gradients(grad, self, min, needs)));
  derive(
      m, clamp_max_Tensor,
      SB_GRAD((self, max), (grad, self, max, needs), clamp_max_gradients(grad, self, max, needs)));

  derive(m, hardtanh,
         SB_GRAD(self, (grad, self, min_val, max_val),
                 hardtanh_backward(grad, self, min_val, max_val)));
}

}  // namespace
}  // namespace sb
