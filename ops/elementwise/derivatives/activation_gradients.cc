// The derivatives of activation_gradients.h, for derivatives of derivatives. Each operator gives
// grad_output times the slope of a function: the derivative by grad_output is the operator itself,
// the one by self has the slope's slope.

#include "switchboard/ops/elementwise/activation_gradients.h"

#include <array>
#include <numbers>
#include <string_view>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/gelu_mode.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// y * (1 - y): the slope of y = sigmoid(x).
Tensor logistic_slope(const Tensor& y) { return mul(y, rsub_Scalar(y, 1)); }

// What a gradient gives by an argument that it conjugates.
Tensor conjugated_gradient(const Tensor& grad, const Tensor& grad_output, const Tensor& slope) {
  return mul(mul(conj(grad), grad_output), slope);
}

// The slope of Phi(x) + x * phi(x).
Tensor gelu_erf_curvature(const Tensor& x) {
  constexpr double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const Tensor square = mul(x, x);
  return mul(exp(mul_Scalar(square, -0.5)), mul_Scalar(rsub_Scalar(square, 2), scale));
}
// Of (1 + t) / 2 + x * (1 - t^2) * u / 2, where t = tanh(beta * (x + kappa * x^3)), and u is the
// slope of what is in the parentheses.
Tensor gelu_tanh_curvature(const Tensor& x) {
  constexpr double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kappa = 0.044715;
  const Tensor square = mul(x, x);
  const Tensor t = tanh(mul_Scalar(mul(x, add_Scalar(mul_Scalar(square, kappa), 1)), beta));
  const Tensor u = mul_Scalar(add_Scalar(mul_Scalar(square, 3 * kappa), 1), beta);
  const Tensor bent = mul_Scalar(square, 3 * beta * kappa);  // x * u' / 2
  const Tensor turned = mul(mul(x, t), mul(u, u));
  return mul(rsub_Scalar(mul(t, t), 1), sub(add(u, bent), turned));
}
Tensor gelu_curvature(const Tensor& x, std::string_view approximate) {
  return is_tanh_gelu(approximate) ? gelu_tanh_curvature(x) : gelu_erf_curvature(x);
}

// The slope of s * (1 + x * (1 - s)), where s = sigmoid(x).
Tensor silu_curvature(const Tensor& x) {
  const Tensor s = sigmoid(x);
  const Tensor tilt = add_Scalar(mul(x, rsub_Scalar(mul_Scalar(s, 2), 1)), 2);
  return mul(logistic_slope(s), tilt);
}

// The slope of t + x * s * (1 - t^2), where t = tanh(log(1 + exp(x))).
Tensor mish_curvature(const Tensor& x) {
  const Tensor s = sigmoid(x);
  const Tensor t = tanh(softplus(x));
  const Tensor tilt = sub(rsub_Scalar(s, 1), mul_Scalar(mul(t, s), 2));
  return mul(mul(rsub_Scalar(mul(t, t), 1), s), add_Scalar(mul(x, tilt), 2));
}

// The slope of sigmoid(beta * x), 0 above the threshold.
Tensor softplus_curvature(const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  const Tensor scaled = mul_Scalar(x, beta);
  const Tensor slope = mul_Scalar(logistic_slope(sigmoid(scaled)), beta);
  return where_ScalarOther(le_Scalar(scaled, threshold), slope, 0);
}

// By self or the result, below 0: the exponential's slope is itself, times input_scale.
Tensor elu_gradient(const Tensor& grad, const Tensor& grad_output, const Scalar& alpha,
                    const Scalar& scale, const Scalar& input_scale, bool is_result,
                    const Tensor& self_or_result) {
  const Tensor product = mul_Scalar(mul(grad, grad_output), input_scale);
  const Tensor bent =
      is_result ? product : elu_backward(product, alpha, scale, input_scale, false, self_or_result);
  return where_ScalarOther(lt_Scalar(self_or_result, 0), bent, 0);
}

Tensor hardswish_gradient(const Tensor& grad, const Tensor& grad_output, const Tensor& self) {
  const Tensor bent = logical_and(gt_Scalar(self, -3), lt_Scalar(self, 3));
  return where_ScalarOther(bent, div_Scalar(mul(grad, grad_output), 3), 0);
}

// The slope of 1 - sigmoid(x).
Tensor log_sigmoid_curvature(const Tensor& self) { return neg(logistic_slope(sigmoid(self))); }

// glu_backward gives [grad_output * s, grad_output * a * s'], where s = sigmoid(b).
Tensor glu_output_gradient(const Tensor& grad, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> by = chunk(grad, 2, dim), parts = chunk(self, 2, dim);
  const Tensor s = sigmoid(parts[1]);
  return add(mul(by[0], s), mul(mul(by[1], parts[0]), logistic_slope(s)));
}
Tensor glu_self_gradient(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                         int64_t dim) {
  const std::vector<Tensor> by = chunk(grad, 2, dim), parts = chunk(self, 2, dim);
  const Tensor s = sigmoid(parts[1]);
  const Tensor bend = mul(grad_output, logistic_slope(s));
  const Tensor tilt = mul(mul(by[1], parts[0]), rsub_Scalar(mul_Scalar(s, 2), 1));
  const Tensor by_parts[] = {mul(by[1], bend), mul(add(by[0], tilt), bend)};
  return cat(by_parts, dim);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(
      m, sigmoid_backward,
      SB_GRAD(grad_output, (grad, output), sigmoid_backward(grad, conj(output))),
      SB_GRAD(output, (grad, grad_output, output),
              conjugated_gradient(grad, grad_output, rsub_Scalar(mul_Scalar(conj(output), 2), 1))));
  derive(m, tanh_backward, SB_GRAD(grad_output, (grad, output), tanh_backward(grad, conj(output))),
         SB_GRAD(output, (grad, grad_output, output),
                 conjugated_gradient(grad, grad_output, mul_Scalar(conj(output), -2))));
  derive(m, gelu_backward,
         SB_GRAD(grad_output, (grad, self, approximate), gelu_backward(grad, self, approximate)),
         SB_GRAD(self, (grad, grad_output, self, approximate),
                 mul(mul(grad, grad_output), gelu_curvature(self, approximate))));
  derive(m, silu_backward, SB_GRAD(grad_output, (grad, self), silu_backward(grad, conj(self))),
         SB_GRAD(self, (grad, grad_output, self),
                 conjugated_gradient(grad, grad_output, conj(silu_curvature(self)))));
  derive(
      m, mish_backward, SB_GRAD(grad_output, (grad, self), mish_backward(grad, self)),
      SB_GRAD(self, (grad, grad_output, self), mul(mul(grad, grad_output), mish_curvature(self))));
  derive(m, softplus_backward,
         SB_GRAD(grad_output, (grad, self, beta, threshold),
                 softplus_backward(grad, self, beta, threshold)),
         SB_GRAD(self, (grad, grad_output, self, beta, threshold),
                 mul(mul(grad, grad_output), softplus_curvature(self, beta, threshold))));
  derive(
      m, elu_backward,
      SB_GRAD(grad_output, (grad, alpha, scale, input_scale, is_result, self_or_result),
              elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result)),
      SB_GRAD(
          self_or_result, (grad, grad_output, alpha, scale, input_scale, is_result, self_or_result),
          elu_gradient(grad, grad_output, alpha, scale, input_scale, is_result, self_or_result)));
  derive(m, hardswish_backward, SB_GRAD(grad_output, (grad, self), hardswish_backward(grad, self)),
         SB_GRAD(self, (grad, grad_output, self), hardswish_gradient(grad, grad_output, self)));
  derive(m, log_sigmoid_backward,
         SB_GRAD(grad_output, (grad, self, buffer), log_sigmoid_backward(grad, self, buffer)),
         SB_GRAD(self, (grad, grad_output, self),
                 mul(mul(grad, grad_output), log_sigmoid_curvature(self))));
  derive(m, glu_backward,
         SB_GRAD(grad_output, (grad, self, dim), glu_output_gradient(grad, self, dim)),
         SB_GRAD(self, (grad, grad_output, self, dim),
                 glu_self_gradient(grad, grad_output, self, dim)));
}

// Of functions made of straight lines.
SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, hardsigmoid_backward,
         SB_GRAD(grad_output, (grad, self), hardsigmoid_backward(grad, self)),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, hardtanh_backward,
         SB_GRAD(grad_output, (grad, self, min_val, max_val),
                 hardtanh_backward(grad, self, min_val, max_val)),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, leaky_relu_backward,
         SB_GRAD(grad_output, (grad, self, negative_slope, self_is_result),
                 leaky_relu_backward(grad, self, negative_slope, self_is_result)),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, hardshrink_backward,
         SB_GRAD(grad_out, (grad, self, lambd), hardshrink_backward(grad, self, lambd)),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, softshrink_backward,
         SB_GRAD(grad_output, (grad, self, lambd), softshrink_backward(grad, self, lambd)),
         SB_GRAD(self, (grad), zeros_like(grad)));
  derive(m, threshold_backward,
         SB_GRAD(grad_output, (grad, self, threshold), threshold_backward(grad, self, threshold)),
         SB_GRAD(self, (grad), zeros_like(grad)));
}

}  // namespace
}  // namespace sb
