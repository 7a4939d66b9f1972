// Derivatives of normalisation of groups of channels.

#include "switchboard/ops/normalization/group_norm.h"

#include <tuple>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/derivatives/norm_gradients.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

// Sizes to which tensors are brought: (items, groups, channels of a group, elements of a channel).
struct GroupShape {
  SymInt items, channels, size;
  int64_t groups;

  Tensor grouped(const Tensor& t) const { return reshape(t, {items, groups, per_group(), size}); }
  // What there is one of for each group, or for each channel.
  Tensor of_groups(const Tensor& t) const { return reshape(t, {items, groups, 1, 1}); }
  Tensor of_channels(const Tensor& t) const { return reshape(t, {1, groups, per_group(), 1}); }

 private:
  SymInt per_group() const { return channels / groups; }
};

// What the gradients of mean and rstd add to that of the input, which has elements.
Tensor statistics_gradient(const GroupShape& shape, const Tensor& grad_mean,
                           const Tensor& grad_rstd, const Tensor& input, const Tensor& mean,
                           const Tensor& rstd) {
  const Tensor x = shape.grouped(input);
  Tensor total = zeros_like(x);
  if (grad_mean.defined()) total = add(total, shape.of_groups(grad_mean));
  if (grad_rstd.defined()) {
    const Tensor r = shape.of_groups(rstd);
    const Tensor slope = mul(mul(r, mul(r, r)), shape.of_groups(grad_rstd));
    total = sub(total, mul(sub(x, shape.of_groups(mean)), slope));
  }
  const int64_t count = x.sym_size(2).guard_int() * x.sym_size(3).guard_int();
  return reshape(div_Scalar(total, count), input.sym_sizes());
}

std::array<Tensor, 3> group_norm_gradients(absl::Span<const Tensor> grads, const Tensor& input,
                                           const std::optional<Tensor>& weight, const Tensor& mean,
                                           const Tensor& rstd, const GroupShape& shape,
                                           const std::array<bool, 3>& needs) {
  std::array<Tensor, 3> gradients;
  if (grads[0].defined()) {
    const std::array<bool, 3> mask = {needs[0], needs[1], needs[2] && is_given(weight)};
    std::tie(gradients[0], gradients[1], gradients[2]) =
        native_group_norm_backward(grads[0], input, mean, rstd, weight, shape.items, shape.channels,
                                   shape.size, shape.groups, mask);
    if (needs[2] && !mask[2])  // which the operator does not give without a weight
      gradients[2] = sum(reshape(grads[0], {shape.items, shape.channels, shape.size}), {0, 2});
  }
  if (needs[0] && (grads[1].defined() || grads[2].defined()) && input.numel() != 0) {
    const Tensor more = statistics_gradient(shape, grads[1], grads[2], input, mean, rstd);
    gradients[0] = gradients[0].defined() ? add(gradients[0], more) : more;
  }
  return gradients;
}

// Of grad_out, input, mean, rstd and weight, from the gradients of native_group_norm_backward's
// results. What mean and rstd have of the input goes back by the derivatives of native_group_norm.
std::array<Tensor, 5> group_norm_backward_gradients(absl::Span<const Tensor> grads,
                                                    const Tensor& grad_out, const Tensor& input,
                                                    const Tensor& mean, const Tensor& rstd,
                                                    const std::optional<Tensor>& weight,
                                                    const GroupShape& shape,
                                                    const std::array<bool, 5>& needs) {
  const auto if_given = [](const Tensor& t, const auto& f) { return t.defined() ? f(t) : t; };
  const auto grouped = [&](const Tensor& t) { return shape.grouped(t); };
  const auto of_channels = [&](const Tensor& t) { return shape.of_channels(t); };
  internal::NormBackward backward;
  backward.grad_out = shape.grouped(grad_out);
  backward.rstd = shape.of_groups(rstd);
  backward.normalised = mul(sub(shape.grouped(input), shape.of_groups(mean)), backward.rstd);
  if (is_given(weight)) backward.weight = shape.of_channels(*weight);
  backward.dims = {2, 3};

  const Tensor wide[] = {if_given(grads[0], grouped), if_given(grads[1], of_channels),
                         if_given(grads[2], of_channels)};
  std::array<Tensor, 5> gradients;
  if (needs[0]) {
    gradients[0] = if_given(backward.of_grad_out(wide),
                            [&](const Tensor& t) { return reshape(t, grad_out.sym_sizes()); });
  }
  if (needs[4] && wide[0].defined())
    gradients[4] = reshape(sum(backward.of_weight(wide), {0, 3}), {shape.channels});
  const internal::NormBackward::OfParts parts = backward.of_parts(wide);
  if (!parts.normalised.defined()) return gradients;
  const Tensor by_input = mul(parts.normalised, backward.rstd);
  if (needs[1]) gradients[1] = reshape(by_input, input.sym_sizes());
  if (needs[2]) gradients[2] = reshape(neg(sum(by_input, {2, 3})), mean.sym_sizes());
  if (needs[3]) {
    Tensor by_rstd = div(mul(parts.normalised, backward.normalised), backward.rstd);
    if (parts.rstd.defined()) by_rstd = add(by_rstd, parts.rstd);
    gradients[3] = reshape(sum(by_rstd, {2, 3}), rstd.sym_sizes());
  }
  return gradients;
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(
      m, native_group_norm,
      SB_GRAD(
          (input, weight, bias), (grads, input, weight, result1, result2, N, C, HxW, group, needs),
          group_norm_gradients(grads, input, weight, result1, result2, {N, C, HxW, group}, needs)));
  derive(m, native_group_norm_backward,
         SB_GRAD((grad_out, input, mean, rstd, weight),
                 (grads, grad_out, input, mean, rstd, weight, N, C, HxW, group, needs),
                 group_norm_backward_gradients(grads, grad_out, input, mean, rstd, weight,
                                               {N, C, HxW, group}, needs)));
}

}  // namespace sb
