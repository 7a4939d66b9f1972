#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "switchboard/ops/cpu/vector_math.h"
#include "switchboard/ops/elementwise/gelu_erf.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/shape/size_lists.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/gelu_mode.h"
#include "switchboard/ops/shape/dims.h"
#endif

namespace sb {

namespace {
template <class T>
T conjugate(const T& x) {
  if constexpr (internal::is_std_complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
}  // namespace

SB_ELEMENTWISE(sigmoid_backward_arithmetic, "sigmoid_backward", kBinaryFlags,
               element_loops<2>(
                   [](const auto& g, const auto& y) {
                     using T = std::decay_t<decltype(y)>;
                     return g * conjugate((T(1) - y) * y);
                   },
                   FloatTypes(), ComplexTypes()));
SB_ELEMENTWISE(tanh_backward_arithmetic, "tanh_backward", kBinaryFlags,
               element_loops<2>(
                   [](const auto& g, const auto& y) {
                     using T = std::decay_t<decltype(y)>;
                     return g * conjugate(T(1) - y * y);
                   },
                   FloatTypes(), ComplexTypes()));

SB_ELEMENTWISE(logit_backward_arithmetic, "logit_backward", kBinaryFlags,
               element_loops<2>(
                   [](auto g, auto x) {
                     using T = decltype(x);
                     if (x < 0 || x > 1) return std::numeric_limits<T>::quiet_NaN();
                     if (x == 0 || x == 1) return g * std::numeric_limits<T>::infinity();
                     return g / (x * (1 - x));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(logit_backward_eps_arithmetic, "logit_backward", kBinaryFlags,
               element_loops<2>(
                   [](const auto& n, auto g, auto x) {
                     return x < n[0] || x > 1 - n[0] ? decltype(x)(0) : g / (x * (1 - x));
                   },
                   FloatTypes()));

SB_ELEMENTWISE(gelu_erf_backward_arithmetic, "gelu_backward", kBinaryFlags,
               array_loops<2>(
                   [](const auto& g, const auto& x) {
                     using T = element_of<decltype(x)>;
                     const T density = T(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
                     return g *
                            (T(0.5) * (T(1) + internal::gelu_erf(x * T(1 / std::numbers::sqrt2))) +
                             x * density * vec::exp(T(-0.5) * x * x));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(gelu_tanh_backward_arithmetic, "gelu_backward", kBinaryFlags,
               element_loops<2>(
                   [](auto g, auto x) {
                     using T = decltype(x);
                     const T beta = T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
                     const T kappa = T(0.044715);
                     const T t = std::tanh(beta * (x + kappa * x * x * x));
                     const T slope = beta * (1 + 3 * kappa * x * x);
                     return g * (T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * slope);
                   },
                   FloatTypes()));

namespace {
// s * (1 + x * (1 - s)) with s = 1 / (1 + e) and e = exp(-x).
constexpr LoopTable silu_backward_loops() {
  LoopTable table = array_loops<2>(
      [](const auto& g, const auto& x) {
        using T = element_of<decltype(x)>;
        const auto s = T(1) / (T(1) + vec::exp(-x));
        return g * s * (T(1) + x * (T(1) - s));
      },
      FloatTypes());
  set_element_loops<2>(&table, ComplexTypes(), [](const auto& g, const auto& x) {
    using T = std::decay_t<decltype(x)>;
    const T sigmoid = T(1) / (T(1) + std::exp(-x));
    return g * std::conj(sigmoid * (T(1) + x * (T(1) - sigmoid)));
  });
  return table;
}
}  // namespace
SB_ELEMENTWISE(silu_backward_arithmetic, "silu_backward", kBinaryFlags, silu_backward_loops());

SB_ELEMENTWISE(mish_backward_arithmetic, "mish_backward", kBinaryFlags,
               element_loops<2>(
                   [](auto g, auto x) {
                     const auto sigmoid = 1 / (1 + std::exp(-x));
                     const auto t = std::tanh(std::log1p(std::exp(x)));
                     return g * (t + x * sigmoid * (1 - t * t));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(softplus_backward_arithmetic, "softplus_backward", kBinaryFlags,
               element_loops<2>(
                   [](const auto& n, auto g, auto x) {
                     const auto power = std::exp(x * n[0]);
                     return x * n[0] > n[1] ? g : g * power / (power + 1);
                   },
                   FloatTypes()));

namespace {
struct ResultNotNegative {
  void operator()(const Tensor&, const Tensor&, const Scalar& alpha, const Scalar&, const Scalar&,
                  bool is_result, const Tensor&) const;
};
}  // namespace
SB_ELEMENTWISE(elu_backward_arithmetic, "elu_backward", kBinaryFlags,
               element_loops<2>(
                   [](const auto& n, auto g, auto x) {
                     const auto alpha = n[0] * n[1], scale = n[1], input_scale = n[2];
                     if (x > 0) return g * scale;
                     return n[3] != 0 ? g * input_scale * (x + alpha)
                                      : g * input_scale * alpha * std::exp(x * input_scale);
                   },
                   FloatTypes()));
SB_ELEMENTWISE(leaky_relu_backward_arithmetic, "leaky_relu_backward", kBinaryFlags,
               element_loops<2>([](const auto& n, auto x, auto g) { return x > 0 ? g : g * n[0]; },
                                FloatTypes()));

SB_ELEMENTWISE(hardsigmoid_backward_arithmetic, "hardsigmoid_backward", kBinaryFlags,
               element_loops<2>(
                   [](auto g, auto x) { return x > -3 && x < 3 ? g * (1.0f / 6) : decltype(x)(0); },
                   FloatTypes()));
SB_ELEMENTWISE(hardswish_backward_arithmetic, "hardswish_backward", kBinaryFlags,
               element_loops<2>(
                   [](auto g, auto x) {
                     using T = decltype(x);
                     return x < -3 ? T(0) : x <= 3 ? g * (x / 3 + T(0.5)) : g;
                   },
                   FloatTypes()));
SB_ELEMENTWISE(hardtanh_backward_arithmetic, "hardtanh_backward", kBinaryFlags,
               element_loops<2>([](const auto& n, auto g,
                                   auto x) { return x <= n[0] || x >= n[1] ? decltype(x)(0) : g; },
                                FloatTypes()));

namespace {
constexpr LoopTable shrink_backward_loops() {
  return element_loops<2>(
      [](const auto& n, auto g, auto x) { return x >= -n[0] && x <= n[0] ? decltype(x)(0) : g; },
      FloatTypes());
}
}  // namespace
SB_ELEMENTWISE(hardshrink_backward_arithmetic, "hardshrink_backward", kBinaryFlags,
               shrink_backward_loops());
SB_ELEMENTWISE(softshrink_backward_arithmetic, "softshrink_backward", kBinaryFlags,
               shrink_backward_loops());
SB_ELEMENTWISE(threshold_backward_arithmetic, "threshold_backward", kBinaryFlags,
               element_loops<2>([](const auto& n, auto x,
                                   auto g) { return x <= n[0] ? decltype(x)(0) : g; },
                                IntegerTypes(), FloatTypes()));

#ifndef SB_CPU_VARIANT

void ResultNotNegative::operator()(const Tensor&, const Tensor&, const Scalar& alpha, const Scalar&,
                                   const Scalar&, bool is_result, const Tensor&) const {
  SB_CHECK(!is_result || alpha.to<double>() >= 0,
           "elu_backward: argument alpha: expected 0 or more with is_result, got ",
           alpha.to_string());
}
namespace {

Tensor logit_backward_body(const Tensor& out, const Tensor& grad_output, const Tensor& self,
                           std::optional<double> eps) {
  if (!eps || *eps < 0) return elementwise(logit_backward_arithmetic, out, grad_output, self);
  return regular<logit_backward_eps_arithmetic>(out, grad_output, self, *eps);
}
// As PyTorch, which has a kernel for these tensors that neither broadcasts nor converts.
bool is_dense_gelu_dtype(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::BFloat16;
}
bool has_dense_gelu(const Tensor& self) {
  return is_dense_gelu_dtype(self.dtype()) && guard_size_oblivious(self.sym_numel() > 1) &&
         self.is_contiguous();
}
Tensor gelu_backward_body(const Tensor& out, const Tensor& grad_output, const Tensor& self,
                          std::string_view approximate) {
  if (is_tanh_gelu(approximate)) {
    return elementwise(gelu_tanh_backward_arithmetic, out, grad_output, self);
  }
  check_defined("gelu_backward: self", self);
  check_defined("gelu_backward: grad_output", grad_output);
  if (has_dense_gelu(self)) {
    for (const Tensor* t : {&grad_output, &out}) {
      SB_CHECK(!t->defined() || is_dense_gelu_dtype(t->dtype()), "gelu_backward: argument ",
               t == &out ? "grad_input" : "grad_output",
               ": expected float32 or bfloat16 with self ", self.describe(), ", got ",
               to_string(t->dtype()));
    }
    by_size(any_symbolic(grad_output, self), [&]<class Int>() {
      SB_CHECK(equal_sizes<Int>(sizes_of<Int>(grad_output), sizes_of<Int>(self)),
               "gelu_backward: argument grad_output: expected shape ",
               shape_text(sizes_of<Int>(self)), ", got ", shape_text(sizes_of<Int>(grad_output)));
    });
  }
  return elementwise(gelu_erf_backward_arithmetic, out, grad_output, self);
}

// The result has self's dtype.
Tensor mish_backward_body(const Tensor& grad_output, const Tensor& self) {
  return elementwise(mish_backward_arithmetic, empty_on(self.device(), {0}, self.dtype()),
                     grad_output, self);
}

// The order of the inputs decides the result's strides.
Tensor leaky_relu_backward_body(const Tensor& out, const Tensor& grad_output, const Tensor& self,
                                const Scalar& negative_slope, bool self_is_result) {
  SB_CHECK(!self_is_result || negative_slope.to<double>() >= 0,
           "leaky_relu_backward: argument negative_slope: expected 0 or more with self_is_result, "
           "got ",
           negative_slope.to_string());
  return regular<leaky_relu_backward_arithmetic>(out, self, grad_output, negative_slope);
}
Tensor threshold_backward_body(const Tensor& out, const Tensor& grad_output, const Tensor& self,
                               const Scalar& threshold) {
  return regular<threshold_backward_arithmetic>(out, self, grad_output, threshold);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, sigmoid_backward, Tag::pointwise)
      .elementwise<regular<sigmoid_backward_arithmetic>>()
      .out(sigmoid_backward_out);
  define(m, tanh_backward, Tag::pointwise)
      .elementwise<regular<tanh_backward_arithmetic>>()
      .out(tanh_backward_out);
  define(m, silu_backward, Tag::pointwise)
      .elementwise<regular<silu_backward_arithmetic>>()
      .out(silu_backward_out);
  define(m, softplus_backward, Tag::pointwise)
      .elementwise<regular<softplus_backward_arithmetic>>()
      .out(softplus_backward_out);
  define(m, elu_backward, Tag::pointwise)
      .elementwise<regular<elu_backward_arithmetic, ResultNotNegative>>()
      .out(elu_backward_out);
  define(m, hardsigmoid_backward, Tag::pointwise)
      .elementwise<regular<hardsigmoid_backward_arithmetic>>()
      .out(hardsigmoid_backward_out);
  define(m, hardswish_backward, Tag::pointwise)
      .elementwise<regular<hardswish_backward_arithmetic>>()
      .out(hardswish_backward_out);
  define(m, hardtanh_backward, Tag::pointwise)
      .elementwise<regular<hardtanh_backward_arithmetic>>()
      .out(hardtanh_backward_out);
  define(m, hardshrink_backward, Tag::pointwise)
      .elementwise<regular<hardshrink_backward_arithmetic>>()
      .out(hardshrink_backward_out);
  define(m, softshrink_backward, Tag::pointwise)
      .elementwise<regular<softshrink_backward_arithmetic>>()
      .out(softshrink_backward_out);
  define(m, logit_backward, Tag::pointwise)
      .elementwise<logit_backward_body>()
      .out(logit_backward_out);
  define(m, gelu_backward, Tag::pointwise).elementwise<gelu_backward_body>().out(gelu_backward_out);
  define(m, leaky_relu_backward, Tag::pointwise)
      .elementwise<leaky_relu_backward_body>()
      .out(leaky_relu_backward_out);
  define(m, threshold_backward, Tag::pointwise)
      .elementwise<threshold_backward_body>()
      .out(threshold_backward_out);
  define(m, mish_backward, Tag::pointwise).cpu_and_meta(mish_backward_body);
}

}  // namespace
#endif

}  // namespace sb
