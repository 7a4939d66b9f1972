// The derivatives of activations.h, by the operators of activation_gradients.h.

#include "switchboard/ops/elementwise/activations.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/inplace_derivatives.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/elementwise/activation_gradients.h"

namespace sb {
namespace {

double inverse(const Scalar& number) { return 1 / number.to<double>(); }

// A derivative by self, and one by the result for the in-place form, as PyTorch; that refuses, in
// backward, a negative alpha or slope, by which the result does not tell where self was negative.
template <class Tag, class F, class G>
void derive_both(LibraryHere m, const Op<Tag>& op, F, G) {
  using Inplace = form_of<InplaceForm, Tag>;
  internal::add_recording_kernel<Tag, internal::DerivedNode<Tag, F>>(m.library, op, m.where);
  internal::add_recording_kernel<Inplace, internal::DerivedNode<Inplace, G>>(
      m.library, Op<Inplace>(), m.where);
  internal::note_own_derivative(Op<Inplace>::name());
}

// PyTorch gives wrong numbers for a negative scale or input_scale.
Tensor elu_gradient_by_result(const Tensor& grad, const Scalar& alpha, const Scalar& scale,
                              const Scalar& input_scale, const Tensor& result) {
  for (const Scalar& factor : {scale, input_scale}) {
    SB_CHECK_NOT_IMPLEMENTED(
        factor.to<double>() >= 0,
        "aten::elu_ backward: expected a scale and an input_scale that are not "
        "negative, or the result does not tell where self was, got ",
        factor.to<double>(), "; call elu");
  }
  return elu_backward(grad, alpha, scale, input_scale, true, result);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, gelu, SB_GRAD(self, (grad, self, approximate), gelu_backward(grad, self, approximate)));
  derive(m, silu, SB_GRAD(self, (grad, self), silu_backward(grad, self)));
  derive(m, mish, SB_GRAD(self, (grad, self), mish_backward(grad, self)));
  derive(
      m, softplus,
      SB_GRAD(self, (grad, self, beta, threshold), softplus_backward(grad, self, beta, threshold)));
  derive_both(m, elu,
              SB_GRAD(self, (grad, self, alpha, scale, input_scale),
                      elu_backward(grad, alpha, scale, input_scale, false, self)),
              SB_GRAD(self, (grad, result, alpha, scale, input_scale),
                      elu_gradient_by_result(grad, alpha, scale, input_scale, result)));
  derive_both(m, celu,
              SB_GRAD(self, (grad, self, alpha),
                      elu_backward(grad, alpha, 1.0, inverse(alpha), false, self)),
              SB_GRAD(self, (grad, result, alpha),
                      elu_backward(grad, alpha, 1.0, inverse(alpha), true, result)));
  derive_both(m, leaky_relu,
              SB_GRAD(self, (grad, self, negative_slope),
                      leaky_relu_backward(grad, self, negative_slope, false)),
              SB_GRAD(self, (grad, result, negative_slope),
                      leaky_relu_backward(grad, result, negative_slope, true)));
  derive(m, hardsigmoid, SB_GRAD(self, (grad, self), hardsigmoid_backward(grad, self)));
  derive(m, hardswish, SB_GRAD(self, (grad, self), hardswish_backward(grad, self)));
  derive(m, hardshrink, SB_GRAD(self, (grad, self, lambd), hardshrink_backward(grad, self, lambd)));
  derive(m, softshrink, SB_GRAD(self, (grad, self, lambd), softshrink_backward(grad, self, lambd)));
  derive(m, threshold,
         SB_GRAD(self, (grad, self, threshold), threshold_backward(grad, self, threshold)));
  derive(m, glu, SB_GRAD(self, (grad, self, dim), glu_backward(grad, self, dim)));
  derive(m, prelu,
         SB_GRAD((self, weight), (grad, self, weight), prelu_backward(grad, self, weight)));
  derive(m, _prelu_kernel,
         SB_GRAD((self, weight), (grad, self, weight), _prelu_kernel_backward(grad, self, weight)));
}

}  // namespace
}  // namespace sb
