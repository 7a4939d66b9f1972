#include <cmath>
#include <complex>

#include "switchboard/ops/cpu/array_loops.h"
#include "switchboard/ops/cpu/vector_math.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#endif

namespace sb {

// `real` takes arrays of float and double, `complex` complex numbers.
template <class Real, class Complex>
constexpr LoopTable float_loops(Real real, Complex) {
  LoopTable table{};
  set_loops<1>(&table, FloatTypes(), real);
  set_loops<1>(&table, ComplexTypes(), [](const auto& a) {
    return a.unaryExpr([](const auto& z) { return Complex()(z); });
  });
  return table;
}

#define SB_UNARY(name)                                                   \
  SB_ELEMENTWISE(name##_arithmetic, #name, kFloatFlags,                  \
                 float_loops([](const auto& a) { return vec::name(a); }, \
                             [](const auto& z) { return std::name(z); }))
SB_UNARY(exp);
SB_UNARY(log);
SB_UNARY(sqrt);
SB_UNARY(sin);
SB_UNARY(cos);
SB_UNARY(tanh);
#undef SB_UNARY

template <class T>
T inverse(const T& x) {
  return T(1) / x;
}
SB_ELEMENTWISE(rsqrt_arithmetic, "rsqrt", kFloatFlags,
               float_loops([](const auto& a) { return 1 / vec::sqrt(a); },
                           [](const auto& z) { return inverse(std::sqrt(z)); }));
SB_ELEMENTWISE(sigmoid_arithmetic, "sigmoid", kFloatFlags,
               float_loops([](const auto& a) { return 1 / (1 + vec::exp(-a)); },
                           [](const auto& z) {
                             using T = std::decay_t<decltype(z)>;
                             return inverse(T(1) + std::exp(-z));
                           }));
SB_ELEMENTWISE(reciprocal_arithmetic, "reciprocal", kFloatFlags,
               float_loops([](const auto& a) { return 1 / a; },
                           [](const auto& z) { return inverse(z); }));

constexpr LoopTable relu_loops() {
  LoopTable table{};
  const auto f = [](const auto& a) {
    using T = element_of<decltype(a)>;
    // NaN and -0 stay.
    return a.unaryExpr([](T x) { return x < T(0) ? T(0) : x; });
  };
  set_loops<1>(&table, IntegerTypes(), f);
  set_loops<1>(&table, FloatTypes(), f);
  return table;
}
SB_ELEMENTWISE(relu_arithmetic, "relu", kUnaryFlags, relu_loops());

#ifndef SB_CPU_VARIANT
namespace {

template <const ElementwiseOp& op>
Tensor unary_body(const Tensor& out, const Tensor& self) {
  return elementwise(op, out, self);
}

void check_relu(const Tensor& self) {
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()) && self.dtype() != DType::Bool,
                           "relu: argument self: expected a real tensor that is not bool, got ",
                           to_string(self.dtype()));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, relu, Tag::pointwise).out(relu_out);
  define(m, relu_);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(relu, key, [](const Tensor& self) {
      check_relu(self);
      return elementwise(relu_arithmetic, Tensor(), self);
    });
    m.impl(relu_, key, [](const Tensor& self) {
      check_relu(self);
      return elementwise(relu_arithmetic, self, self);
    });
  }

  define(m, exp, Tag::pointwise).elementwise<unary_body<exp_arithmetic>>().out_and_inplace();
  define(m, log, Tag::pointwise).elementwise<unary_body<log_arithmetic>>().out_and_inplace();
  define(m, sqrt, Tag::pointwise).elementwise<unary_body<sqrt_arithmetic>>().out_and_inplace();
  define(m, rsqrt, Tag::pointwise).elementwise<unary_body<rsqrt_arithmetic>>().out_and_inplace();
  define(m, sin, Tag::pointwise).elementwise<unary_body<sin_arithmetic>>().out_and_inplace();
  define(m, cos, Tag::pointwise).elementwise<unary_body<cos_arithmetic>>().out_and_inplace();
  define(m, tanh, Tag::pointwise).elementwise<unary_body<tanh_arithmetic>>().out_and_inplace();
  define(m, sigmoid, Tag::pointwise)
      .elementwise<unary_body<sigmoid_arithmetic>>()
      .inplace(sigmoid_)
      .out(sigmoid_out);
  define(m, reciprocal, Tag::pointwise)
      .elementwise<unary_body<reciprocal_arithmetic>>()
      .inplace(reciprocal_)
      .out(reciprocal_out);
}

}  // namespace
#endif  // SB_CPU_VARIANT

}  // namespace sb
