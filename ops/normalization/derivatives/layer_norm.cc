// Derivatives of normalisation over the last dimensions.

#include "switchboard/ops/normalization/layer_norm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/missing_gradients.h"
#include "switchboard/ops/normalization/derivatives/norm_gradients.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

// Of grad_out, input and weight, from the gradients of native_layer_norm_backward's results.
// mean and rstd are what the input makes them.
std::array<Tensor, 3> layer_norm_backward_gradients(absl::Span<const Tensor> grads,
                                                    const Tensor& grad_out, const Tensor& input,
                                                    const Tensor& mean, const Tensor& rstd,
                                                    const std::optional<Tensor>& weight,
                                                    SymIntArrayRef normalized_shape,
                                                    const std::array<bool, 3>& needs) {
  const size_t kept = static_cast<size_t>(input.dim()) - normalized_shape.size();
  SymDimVector sizes(input.sym_sizes().begin(), input.sym_sizes().end());
  std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(kept), sizes.end(), SymInt(1));
  internal::NormBackward backward;
  backward.grad_out = grad_out;
  backward.rstd = reshape(rstd, sizes);
  backward.normalised = mul(sub(input, reshape(mean, sizes)), backward.rstd);
  if (is_given(weight)) backward.weight = *weight;
  backward.dims.resize(normalized_shape.size());
  std::iota(backward.dims.begin(), backward.dims.end(), static_cast<int64_t>(kept));
  return {needs[0] ? backward.of_grad_out(grads) : Tensor(),
          needs[1] ? backward.of_input(grads) : Tensor(),
          needs[2] ? backward.of_weight(grads) : Tensor()};
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, native_layer_norm,
         SB_GRAD((input, weight, bias),
                 (grad, input, normalized_shape, result1, result2, weight, bias, needs),
                 native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight,
                                            bias, needs)));
  derive(m, native_layer_norm_backward,
         SB_GRAD((grad_out, input, weight),
                 (grads, grad_out, input, mean, rstd, weight, normalized_shape, needs),
                 layer_norm_backward_gradients(grads, grad_out, input, mean, rstd, weight,
                                               normalized_shape, needs)),
         SB_GRAD(mean, (grads), internal::no_derivative("native_layer_norm_backward", "mean")),
         SB_GRAD(rstd, (grads), internal::no_derivative("native_layer_norm_backward", "rstd")));
}

}  // namespace sb
