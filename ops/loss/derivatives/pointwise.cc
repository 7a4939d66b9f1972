// Derivatives of losses that compare two tensors element by element.
//
// The operators named *_backward are linear in grad_output, element by element: what comes back to
// it is the same operator of the new gradient, which the engine sums where grad_output was one
// number.

#include "switchboard/ops/loss/pointwise.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/loss/derivatives/loss_gradients.h"

namespace sb {
namespace {

using internal::ComparedTensors;
using internal::spread;
using internal::times_weight;
using OptionalTensor = std::optional<Tensor>;

// The losses are of self - target: the gradient of one is that of the other, exchanged.
template <auto& backward, class... Parameters>
Tensor gradient_of_first(const Tensor& grad, const Tensor& first, const Tensor& second,
                         int64_t reduction, Parameters... parameters) {
  const ComparedTensors t(first, second, grad.dtype());
  return backward(grad, t.self, t.target, reduction, parameters...);
}

Tensor distance(const Tensor& self, const Tensor& target) { return abs(sub(self, target)); }

// Of the operators named *_backward, by self. The one by target is its opposite.
Tensor mse_second(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                  int64_t reduction) {
  return spread(mul_Scalar(mul(grad, grad_output), 2), self.sym_numel(), reduction);
}
Tensor smooth_l1_second(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                        const Tensor& target, int64_t reduction, double beta) {
  const Tensor product = mul(grad, grad_output);
  if (beta == 0) return zeros_like(product);
  const Tensor inside = lt_Scalar(distance(self, target), beta);
  return spread(div_Scalar(mul(product, inside), beta), self.sym_numel(), reduction);
}
Tensor huber_second(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                    const Tensor& target, int64_t reduction, double delta) {
  const Tensor inside = lt_Scalar(distance(self, target), delta);
  return spread(mul(mul(grad, grad_output), inside), self.sym_numel(), reduction);
}

// self * (1 - self), and never 0, lest what is divided by it overflows. As PyTorch, which keeps
// away from 0 in two ways.
constexpr double kLeastVariance = 1e-12;
Tensor variance(const Tensor& self) {
  return clamp_min(mul(rsub_Scalar(self, 1), self), kLeastVariance);
}
Tensor shifted_variance(const Tensor& self) {
  return mul(add_Scalar(self, kLeastVariance), add_Scalar(rsub_Scalar(self, 1), kLeastVariance));
}

Tensor cross_entropy_by_target(const Tensor& grad, const Tensor& self, const Tensor& target,
                               const OptionalTensor& weight, int64_t reduction) {
  const Tensor odds = sub(log(rsub_Scalar(self, 1)), log(self));
  return spread(times_weight(mul(odds, grad), weight), target.sym_numel(), reduction);
}
Tensor cross_entropy_by_weight(const Tensor& grad, const Tensor& self, const Tensor& target,
                               int64_t reduction) {
  const Tensor loss = binary_cross_entropy(self, target, std::nullopt, kReduceNone);
  return spread(mul(loss, grad), self.sym_numel(), reduction);
}

// Of binary_cross_entropy_backward.
Tensor cross_entropy_second_by_output(const Tensor& grad, const Tensor& self, const Tensor& target,
                                      const OptionalTensor& weight, int64_t reduction) {
  const Tensor slope = div(sub(self, target), shifted_variance(self));
  return spread(times_weight(mul(slope, grad), weight), self.sym_numel(), reduction);
}
Tensor cross_entropy_second(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                            const Tensor& target, const OptionalTensor& weight, int64_t reduction) {
  const Tensor squares = mul(self, self);
  const Tensor slope = add(sub(squares, mul_Scalar(mul(self, target), 2)), target);
  const Tensor least = shifted_variance(self);
  const Tensor second = mul(div(slope, mul(least, least)), mul(grad, grad_output));
  return spread(times_weight(second, weight), self.sym_numel(), reduction);
}
Tensor cross_entropy_second_by_target(const Tensor& grad, const Tensor& grad_output,
                                      const Tensor& self, const OptionalTensor& weight,
                                      int64_t reduction) {
  const Tensor second = neg(div(mul(grad, grad_output), variance(self)));
  return spread(times_weight(second, weight), self.sym_numel(), reduction);
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, mse_loss,
         SB_GRAD(self, (grad, self, target, reduction),
                 gradient_of_first<mse_loss_backward>(grad, self, target, reduction)),
         SB_GRAD(target, (grad, self, target, reduction),
                 gradient_of_first<mse_loss_backward>(grad, target, self, reduction)));
  derive(m, mse_loss_backward,
         SB_GRAD(grad_output, (grad, self, target, reduction),
                 mse_loss_backward(grad, self, target, reduction)),
         SB_GRAD(self, (grad, grad_output, self, reduction),
                 mse_second(grad, grad_output, self, reduction)),
         SB_GRAD(target, (grad, grad_output, self, reduction),
                 neg(mse_second(grad, grad_output, self, reduction))));

  derive(m, smooth_l1_loss,
         SB_GRAD(self, (grad, self, target, reduction, beta),
                 gradient_of_first<smooth_l1_loss_backward>(grad, self, target, reduction, beta)),
         SB_GRAD(target, (grad, self, target, reduction, beta),
                 gradient_of_first<smooth_l1_loss_backward>(grad, target, self, reduction, beta)));
  derive(m, smooth_l1_loss_backward,
         SB_GRAD(grad_output, (grad, self, target, reduction, beta),
                 smooth_l1_loss_backward(grad, self, target, reduction, beta)),
         SB_GRAD(self, (grad, grad_output, self, target, reduction, beta),
                 smooth_l1_second(grad, grad_output, self, target, reduction, beta)),
         SB_GRAD(target, (grad, grad_output, self, target, reduction, beta),
                 neg(smooth_l1_second(grad, grad_output, self, target, reduction, beta))));

  derive(m, huber_loss,
         SB_GRAD(self, (grad, self, target, reduction, delta),
                 gradient_of_first<huber_loss_backward>(grad, self, target, reduction, delta)),
         SB_GRAD(target, (grad, self, target, reduction, delta),
                 gradient_of_first<huber_loss_backward>(grad, target, self, reduction, delta)));
  derive(m, huber_loss_backward,
         SB_GRAD(grad_output, (grad, self, target, reduction, delta),
                 huber_loss_backward(grad, self, target, reduction, delta)),
         SB_GRAD(self, (grad, grad_output, self, target, reduction, delta),
                 huber_second(grad, grad_output, self, target, reduction, delta)),
         SB_GRAD(target, (grad, grad_output, self, target, reduction, delta),
                 neg(huber_second(grad, grad_output, self, target, reduction, delta))));

  derive(m, binary_cross_entropy,
         SB_GRAD(self, (grad, self, target, weight, reduction),
                 binary_cross_entropy_backward(grad, self, target, weight, reduction)),
         SB_GRAD(target, (grad, self, target, weight, reduction),
                 cross_entropy_by_target(grad, self, target, weight, reduction)),
         SB_GRAD(weight, (grad, self, target, reduction),
                 cross_entropy_by_weight(grad, self, target, reduction)));
  derive(m, binary_cross_entropy_backward,
         SB_GRAD(grad_output, (grad, self, target, weight, reduction),
                 cross_entropy_second_by_output(grad, self, target, weight, reduction)),
         SB_GRAD(self, (grad, grad_output, self, target, weight, reduction),
                 cross_entropy_second(grad, grad_output, self, target, weight, reduction)),
         SB_GRAD(target, (grad, grad_output, self, weight, reduction),
                 cross_entropy_second_by_target(grad, grad_output, self, weight, reduction)),
         SB_GRAD(weight, (grad, grad_output, self, target, reduction),
                 mul(grad, binary_cross_entropy_backward(grad_output, self, target, std::nullopt,
                                                         reduction))));
}

}  // namespace sb
