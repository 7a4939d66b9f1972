#include <cmath>
#include <numbers>

#include "switchboard/ops/cpu/vector_math.h"
#include "switchboard/ops/elementwise/gelu_erf.h"
#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/gelu_mode.h"
#endif

namespace sb {

SB_ELEMENTWISE(gelu_erf_arithmetic, "gelu", kUnaryFlags,
               array_loops<1>(
                   [](const auto& x) {
                     using T = element_of<decltype(x)>;
                     return x * T(0.5) *
                            (T(1) + internal::gelu_erf(x * T(1 / std::numbers::sqrt2)));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(gelu_tanh_arithmetic, "gelu", kUnaryFlags,
               array_loops<1>(
                   [](const auto& x) {
                     using T = element_of<decltype(x)>;
                     const T beta = T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
                     return T(0.5) * x * (T(1) + vec::tanh(beta * (x + T(0.044715) * x * x * x)));
                   },
                   FloatTypes()));

namespace {
constexpr LoopTable silu_loops() {
  LoopTable table = array_loops<1>(
      [](const auto& x) {
        using T = element_of<decltype(x)>;
        return x / (T(1) + vec::exp(-x));
      },
      FloatTypes());
  set_element_loops<1>(&table, ComplexTypes(), [](const auto& z) {
    using T = std::decay_t<decltype(z)>;
    return z / (T(1) + std::exp(-z));
  });
  return table;
}
}  // namespace
SB_ELEMENTWISE(silu_arithmetic, "silu", kUnaryFlags, silu_loops());

SB_ELEMENTWISE(mish_arithmetic, "mish", kUnaryFlags,
               array_loops<1>([](const auto& x) { return x * vec::tanh(vec::log1p(vec::exp(x))); },
                              FloatTypes()));

SB_ELEMENTWISE(softplus_arithmetic, "softplus", kUnaryFlags,
               element_loops<1>(
                   [](const auto& n, auto x) {
                     const auto beta = n[0], threshold = n[1];
                     return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
                   },
                   FloatTypes()));
SB_ELEMENTWISE(elu_arithmetic, "elu", kUnaryFlags,
               element_loops<1>(
                   [](const auto& n, auto x) {
                     const auto alpha = n[0], scale = n[1], input_scale = n[2];
                     return x <= 0 ? std::expm1(x * input_scale) * alpha * scale : x * scale;
                   },
                   FloatTypes()));

namespace {
template <class T>
T relu6_of(T x) {
  return std::min(std::max(x, T(0)), T(6));
}
}  // namespace
SB_ELEMENTWISE(hardsigmoid_arithmetic, "hardsigmoid", kUnaryFlags,
               element_loops<1>([](auto x) { return relu6_of(x + 3) / 6; }, FloatTypes()));
SB_ELEMENTWISE(hardswish_arithmetic, "hardswish", kUnaryFlags,
               element_loops<1>([](auto x) { return x * relu6_of(x + 3) / 6; }, FloatTypes()));
SB_ELEMENTWISE(leaky_relu_arithmetic, "leaky_relu", kUnaryFlags,
               element_loops<1>([](const auto& n, auto x) { return x > 0 ? x : x * n[0]; },
                                FloatTypes()));
SB_ELEMENTWISE(hardshrink_arithmetic, "hardshrink", kUnaryFlags,
               element_loops<1>([](const auto& n,
                                   auto x) { return x >= -n[0] && x <= n[0] ? decltype(x)(0) : x; },
                                FloatTypes()));
namespace {
struct NotNegative {
  void operator()(const Tensor& out, const Tensor& self, const Scalar& lambd) const;
};
}  // namespace
SB_ELEMENTWISE(softshrink_arithmetic, "softshrink", kUnaryFlags,
               element_loops<1>(
                   [](const auto& n, auto x) {
                     return x > n[0] ? x - n[0] : x < -n[0] ? x + n[0] : decltype(x)(0);
                   },
                   FloatTypes()));
SB_ELEMENTWISE(threshold_arithmetic, "threshold", kBinaryFlags,
               element_loops<1>([](const auto& n, auto x) { return x <= n[0] ? n[1] : x; },
                                IntegerTypes(), FloatTypes()));

#ifndef SB_CPU_VARIANT

void NotNegative::operator()(const Tensor&, const Tensor&, const Scalar& lambd) const {
  SB_CHECK(lambd.to<double>() >= 0, "softshrink: argument lambd: expected 0 or more, got ",
           lambd.to_string());
}

bool is_tanh_gelu(std::string_view approximate) {
  SB_CHECK(approximate == "none" || approximate == "tanh",
           "gelu: argument approximate: expected 'none' or 'tanh', got '", approximate, "'");
  return approximate == "tanh";
}

namespace {

Tensor gelu_body(const Tensor& out, const Tensor& self, std::string_view approximate) {
  return elementwise(is_tanh_gelu(approximate) ? gelu_tanh_arithmetic : gelu_erf_arithmetic, out,
                     self);
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

double inverse_alpha(const Scalar& alpha) {
  const double a = alpha.to<double>();
  SB_CHECK(a != 0, "ZeroDivisionError: celu: argument alpha: expected anything but 0");
  return 1 / a;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, silu, Tag::pointwise).elementwise<regular<silu_arithmetic>>().out_and_inplace();
  define(m, mish, Tag::pointwise).elementwise<regular<mish_arithmetic>>().out_and_inplace();
  define(m, softplus, Tag::pointwise).elementwise<regular<softplus_arithmetic>>().out(softplus_out);
  define(m, elu, Tag::pointwise).elementwise<regular<elu_arithmetic>>().out_and_inplace();
  define(m, hardsigmoid, Tag::pointwise)
      .elementwise<regular<hardsigmoid_arithmetic>>()
      .inplace(hardsigmoid_)
      .out(hardsigmoid_out);
  define(m, hardswish, Tag::pointwise)
      .elementwise<regular<hardswish_arithmetic>>()
      .inplace(hardswish_)
      .out(hardswish_out);
  define(m, leaky_relu, Tag::pointwise)
      .elementwise<regular<leaky_relu_arithmetic>>()
      .inplace(leaky_relu_)
      .out(leaky_relu_out);
  define(m, hardshrink, Tag::pointwise)
      .elementwise<regular<hardshrink_arithmetic>>()
      .out(hardshrink_out);
  define(m, softshrink, Tag::pointwise)
      .elementwise<regular<softshrink_arithmetic, NotNegative>>()
      .out(softshrink_out);
  define(m, threshold, Tag::pointwise)
      .elementwise<regular<threshold_arithmetic>>()
      .inplace(threshold_)
      .out(threshold_out);
  define(m, gelu, Tag::pointwise).elementwise<gelu_body>().out_and_inplace();
  define(m, selu)
      .composed([](const Tensor& self) { return elu(self, kSeluAlpha, kSeluScale); })
      .inplace(selu_, [](const Tensor& self) { return elu_(self, kSeluAlpha, kSeluScale); });
  define(m, celu, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& alpha) {
        return elu(self, alpha, 1.0, inverse_alpha(alpha));
      })
      .inplace(celu_,
               [](const Tensor& self, const Scalar& alpha) {
                 return elu_(self, alpha, 1.0, inverse_alpha(alpha));
               })
      .out(celu_out);
}

}  // namespace
#endif

}  // namespace sb
