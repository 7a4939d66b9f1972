// A convolution is linear in each of its tensors, and so are its gradients in what they are made
// of.

#include "switchboard/ops/spatial/convolution.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/derivatives/scaled_gradients.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using internal::conjugate;

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using Three = std::array<bool, 3>;

// The gradients of input, weight and bias, those of them that are needed.
ThreeTensors convolution_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                   const std::optional<InputMetadata>& bias, SymIntArrayRef stride,
                                   SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
                                   SymIntArrayRef output_padding, const SymInt& groups,
                                   const Three& needs) {
  OptionalSymIntArrayRef bias_sizes;
  if (bias) bias_sizes = SymIntArrayRef(bias->sizes);
  return convolution_backward(grad, conjugate(input), conjugate(weight), bias_sizes, stride,
                              padding, dilation, transposed, output_padding, groups, needs);
}

Tensor plus(const Tensor& a, const Tensor& b) { return a.defined() ? add(a, b) : b; }

// For each channel one number, which all of `like` get.
Tensor spread_over_channels(Tensor channels, const Tensor& like) {
  for (int64_t d = 2; d < like.dim(); ++d) channels = unsqueeze(channels, -1);
  return expand_as(channels, like);
}

// What convolution_backward computes are three linear maps: of grad_output for a weight, of
// grad_output for an input, and a sum. Their gradients are the maps transposed: convolutions again.
ThreeTensors double_gradients(const Tensor& grad_of_input, const Tensor& grad_of_weight,
                              const Tensor& grad_of_bias, const Tensor& grad_output,
                              const Tensor& input, const Tensor& weight, SymIntArrayRef stride,
                              SymIntArrayRef padding, SymIntArrayRef dilation, bool transposed,
                              SymIntArrayRef output_padding, const SymInt& groups,
                              const Three& needs) {
  const auto convolve = [&](const Tensor& x, const Tensor& w) {
    return convolution(x, w, std::nullopt, stride, padding, dilation, transposed, output_padding,
                       groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, const Three& mask) {
    return convolution_backward(conjugate(grad_output), x, w, std::nullopt, stride, padding,
                                dilation, transposed, output_padding, groups, mask);
  };
  Tensor of_grad, of_input, of_weight;
  if (needs[0]) {
    if (grad_of_input.defined()) of_grad = convolve(grad_of_input, conjugate(weight));
    if (grad_of_weight.defined())
      of_grad = plus(of_grad, convolve(conjugate(input), grad_of_weight));
    if (grad_of_bias.defined())
      of_grad = plus(of_grad, spread_over_channels(grad_of_bias, grad_output));
  }
  // Of an argument that a gradient does not depend on, only the shape counts.
  if (needs[1] && grad_of_weight.defined())
    of_input = std::get<0>(backward(input, grad_of_weight, {true, false, false}));
  if (needs[2] && grad_of_input.defined())
    of_weight = std::get<1>(backward(grad_of_input, weight, {false, true, false}));
  return {of_grad, of_input, of_weight};
}

// Of convolution and _convolution, whose further arguments change nothing.
template <auto& op>
void derive_convolution(Library& m) {
  derive(m, op,
         SB_GRAD((input, weight, bias),
                 (grad, input, weight, bias_meta, stride, padding, dilation, transposed,
                  output_padding, groups, needs),
                 convolution_gradients(grad, input, weight, bias_meta, stride, padding, dilation,
                                       transposed, output_padding, groups, needs)));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_convolution<convolution>(m);
  derive_convolution<_convolution>(m);
  derive(m, convolution_backward,
         SB_GRAD((grad_output, input, weight),
                 (grad0, grad1, grad2, grad_output, input, weight, stride, padding, dilation,
                  transposed, output_padding, groups, needs),
                 double_gradients(grad0, grad1, grad2, grad_output, input, weight, stride, padding,
                                  dilation, transposed, output_padding, groups, needs)));
}

}  // namespace sb
