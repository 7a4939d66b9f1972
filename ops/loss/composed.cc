#include "switchboard/ops/loss/composed.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/statistics/norm.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using OptionalTensor = std::optional<Tensor>;

Tensor l1_loss_kernel(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduce_loss(abs(sub(self, target)), reduction);
}

Tensor kl_div_kernel(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  for (const Tensor* t : {&self, &target}) {
    SB_CHECK(is_floating_point(t->dtype()), "kl_div: expected floating-point tensors, got ",
             t->describe());
  }
  const Tensor loss = log_target ? mul(exp(target), sub(target, self))
                                 : sub(xlogy(target, target), mul(target, self));
  return reduce_loss(loss, reduction);
}

// The intermediate results are changed in place, which keeps the dtype and the shape that they
// have: arguments that would change these are refused.
Tensor bce_with_logits_kernel(const Tensor& self, const Tensor& target,
                              const OptionalTensor& weight, const OptionalTensor& pos_weight,
                              int64_t reduction) {
  const Tensor minus = neg(self);
  const Tensor shift = clamp_min_(minus, 0);  // max(-self, 0), which keeps exp from overflowing
  const Tensor lost = exp_(neg(shift));
  add_(lost, exp_(sub(neg(self), shift)));
  log_(lost);
  const Tensor loss = mul_(rsub_Scalar(target, 1), self);
  if (is_given(pos_weight)) {
    const Tensor log_weight = add_Scalar_(mul(sub_Scalar(*pos_weight, 1), target), 1);
    add_(loss, mul_(log_weight, add_(lost, shift)));
  } else {
    add_(add_(loss, shift), lost);
  }
  if (is_given(weight)) mul_(loss, *weight);
  return reduce_loss(loss, reduction);
}

Tensor soft_margin_loss_kernel(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor losses = mul_(neg(self), target);  // of the shape and dtype of self
  return reduce_loss(log_(add_Scalar_(exp_(losses), 1)), reduction);
}
Tensor soft_margin_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target,
                                   int64_t reduction) {
  const double factor = reduction == kReduceMean ? 1.0 / static_cast<double>(self.numel()) : 1.0;
  const Tensor z = exp(mul(neg(target), self));
  const Tensor grad_input = mul_Scalar_(mul(target, z), -factor);
  return mul_(div_(grad_input, add_Scalar_(z, 1)), grad);
}
void check_gradient_fits(const Tensor& result, DType dtype) {
  SB_CHECK(can_cast(result.dtype(), dtype), "soft_margin_loss_backward: result type ",
           to_string(result.dtype()), " can't be cast to the desired output type ",
           to_string(dtype));
}

Tensor margin_ranking_kernel(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, int64_t reduction) {
  const Tensor gap = add_Scalar(mul(neg(target), sub(input1, input2)), margin);
  return reduce_loss(clamp_min_(gap, 0), reduction);
}

Tensor hinge_embedding_kernel(const Tensor& self, const Tensor& target, double margin,
                              int64_t reduction) {
  const Tensor zeros = zeros_like(self);
  // The margin in self's dtype: integers stay integers.
  const Tensor hinge = clamp_min_(sub_(fill_(empty_like(self), margin), self), 0);
  const Tensor loss =
      add(where(ne_Scalar(target, 1), hinge, zeros), where(ne_Scalar(target, -1), self, zeros));
  return reduce_loss(loss, reduction);
}

Tensor cosine_embedding_kernel(const Tensor& input1, const Tensor& input2, const Tensor& target,
                               double margin, int64_t reduction) {
  constexpr double kEpsilon = 1e-12;
  SB_CHECK(target.dim() <= 1, "cosine_embedding_loss: target: expected at most one dimension, got ",
           target.describe());
  const int64_t rank = target.dim() + 1;
  SB_CHECK(input1.dim() == rank && input2.dim() == rank,
           "cosine_embedding_loss: expected inputs of ", rank, " dimensions, got ",
           input1.describe(), " and ", input2.describe());
  const int64_t dim = target.dim();
  const auto squares = [&](const Tensor& t) { return add_Scalar(sum(mul(t, t), {dim}), kEpsilon); };
  const Tensor length = sqrt_(mul(squares(input1), squares(input2)));
  const Tensor cosine = div(sum(mul(input1, input2), {dim}), length);
  const Tensor zeros = zeros_like(cosine);
  const Tensor apart = clamp_min_(sub_Scalar(cosine, margin), 0);
  const Tensor loss = add(where(eq_Scalar(target, 1), rsub_Scalar(cosine, 1), zeros),
                          where(eq_Scalar(target, -1), apart, zeros));
  return reduce_loss(loss, reduction);
}

Tensor triplet_margin_kernel(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                             double margin, double p, double eps, bool swap, int64_t reduction) {
  SB_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
           "triplet_margin_loss: expected tensors of equally many dimensions, got ",
           anchor.describe(), ", ", positive.describe(), " and ", negative.describe());
  const Tensor near = pairwise_distance(anchor, positive, p, eps);
  Tensor far = pairwise_distance(anchor, negative, p, eps);
  if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
  return reduce_loss(clamp_min(sub(add_Scalar(near, margin), far), 0), reduction);
}

Tensor poisson_nll_kernel(const Tensor& input, const Tensor& target, bool log_input, bool full,
                          double eps, int64_t reduction) {
  Tensor loss = log_input ? sub(exp(input), mul(target, input))
                          : sub(input, mul(target, log(add_Scalar(input, eps))));
  if (full) {
    const Tensor half_log = mul_Scalar(log(mul_Scalar(target, 2 * std::numbers::pi)), 0.5);
    const Tensor stirling = add(sub(mul(target, log(target)), target), half_log);
    add_(loss, masked_fill(stirling, le_Scalar(target, 1), 0));
  }
  return reduce_loss(loss, reduction);
}

Tensor cosine_similarity_kernel(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const DType dtype = result_type({&x1, &x2});
  SB_CHECK(is_floating_point(dtype), "cosine_similarity: expected a floating-point dtype, got ",
           to_string(dtype));
  SB_CHECK(eps >= 0, "cosine_similarity: eps: expected a number that is not negative, got ", eps);
  const SymDimVector sizes = broadcast_sizes<SymInt>(x1.sym_sizes(), x2.sym_sizes());
  const auto unit = [&](const Tensor& x) {
    const Tensor t = expand(to_dtype(x, dtype), SymIntArrayRef(sizes));
    const Tensor squares = sum(mul(t, t), {dim}, true);
    return div(t, clamp_min(sqrt(squares), eps));
  };
  return sum(mul(unit(x1), unit(x2)), {dim});
}

Tensor pairwise_distance_kernel(const Tensor& x1, const Tensor& x2, double p, double eps,
                                bool keepdim) {
  const int64_t last = std::max(x1.dim(), x2.dim()) - 1;
  return norm_dim(add_Scalar(sub(x1, x2), eps), Scalar(p), {last}, keepdim);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, l1_loss).composed(l1_loss_kernel);
  define(m, kl_div).composed(kl_div_kernel);
  define(m, binary_cross_entropy_with_logits)
      .composite_explicit(bce_with_logits_kernel)
      .out(binary_cross_entropy_with_logits_out);
  define(m, soft_margin_loss)
      .composite_explicit(soft_margin_loss_kernel)
      .out(soft_margin_loss_out, [](const Tensor& self, const Tensor& target, int64_t reduction,
                                    const Tensor& out) {
        // PyTorch's out first holds a loss for each element, and so memory beside it may.
        copy_result_to_out("soft_margin_loss", soft_margin_loss_kernel(self, target, reduction),
                           out, kStructuredOut);
        return out;
      });
  define(m, soft_margin_loss_backward)
      .composite_explicit(
          [](const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
            const Tensor result = soft_margin_backward_kernel(grad, self, target, reduction);
            check_gradient_fits(result, self.dtype());
            return to_dtype(result, self.dtype());
          })
      .out(soft_margin_loss_backward_out,
           [](const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
              const Tensor& grad_input) {
             const Tensor result = soft_margin_backward_kernel(grad, self, target, reduction);
             SB_CHECK(grad_input.defined(), "soft_margin_loss_backward: grad_input is undefined");
             check_gradient_fits(result, grad_input.dtype());
             copy_result_to_out("soft_margin_loss_backward", result, grad_input);
             return grad_input;
           });
  define(m, margin_ranking_loss).composed(margin_ranking_kernel);
  define(m, hinge_embedding_loss).composed(hinge_embedding_kernel);
  define(m, cosine_embedding_loss).composed(cosine_embedding_kernel);
  define(m, triplet_margin_loss).composed(triplet_margin_kernel);
  define(m, poisson_nll_loss).composed(poisson_nll_kernel);
  define(m, cosine_similarity).composed(cosine_similarity_kernel);
  define(m, pairwise_distance).composed(pairwise_distance_kernel);
}

}  // namespace sb
