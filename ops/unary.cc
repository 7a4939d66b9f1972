#include <cmath>
#include <complex>

#include "switchboard/ops/array_loops.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/elementwise.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/unary.h"
#endif

namespace sb {

// The functions are those of the standard library, element by element: Eigen's vectorised ones are
// off at infinities and large arguments.
template <class F>
constexpr LoopTable float_loops(F) {
  LoopTable table{};
  const auto f = [](const auto& a) {
    using T = element_of<decltype(a)>;
    return a.unaryExpr([](const T& x) -> T { return F()(x); });
  };
  set_loops<1>(&table, FloatTypes(), f);
  set_loops<1>(&table, ComplexTypes(), f);
  return table;
}

SB_ELEMENTWISE(exp_arithmetic, "exp", kFloatFlags,
               float_loops([](const auto& x) { return std::exp(x); }));
SB_ELEMENTWISE(log_arithmetic, "log", kFloatFlags,
               float_loops([](const auto& x) { return std::log(x); }));
SB_ELEMENTWISE(sqrt_arithmetic, "sqrt", kFloatFlags,
               float_loops([](const auto& x) { return std::sqrt(x); }));
SB_ELEMENTWISE(rsqrt_arithmetic, "rsqrt", kFloatFlags, float_loops([](const auto& x) {
                 using T = std::decay_t<decltype(x)>;
                 return T(1) / std::sqrt(x);
               }));
SB_ELEMENTWISE(sin_arithmetic, "sin", kFloatFlags,
               float_loops([](const auto& x) { return std::sin(x); }));
SB_ELEMENTWISE(cos_arithmetic, "cos", kFloatFlags,
               float_loops([](const auto& x) { return std::cos(x); }));
SB_ELEMENTWISE(tanh_arithmetic, "tanh", kFloatFlags,
               float_loops([](const auto& x) { return std::tanh(x); }));
SB_ELEMENTWISE(sigmoid_arithmetic, "sigmoid", kFloatFlags, float_loops([](const auto& x) {
                 using T = std::decay_t<decltype(x)>;
                 return T(1) / (T(1) + std::exp(-x));
               }));
SB_ELEMENTWISE(reciprocal_arithmetic, "reciprocal", kFloatFlags, float_loops([](const auto& x) {
                 using T = std::decay_t<decltype(x)>;
                 return T(1) / x;
               }));

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
  SB_CHECK(!is_complex(self.dtype()) && self.dtype() != DType::Bool,
           "relu: argument self: expected a real tensor that is not bool, got ",
           to_string(self.dtype()));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  m.define(relu);
  m.define(relu_);
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
  define_out_by_copy<relu>(m);

  define_elementwise<unary_body<exp_arithmetic>>(m, exp);
  define_elementwise<unary_body<log_arithmetic>>(m, log);
  define_elementwise<unary_body<sqrt_arithmetic>>(m, sqrt);
  define_elementwise<unary_body<rsqrt_arithmetic>>(m, rsqrt);
  define_elementwise<unary_body<sin_arithmetic>>(m, sin);
  define_elementwise<unary_body<cos_arithmetic>>(m, cos);
  define_elementwise<unary_body<tanh_arithmetic>>(m, tanh);
  define_elementwise<unary_body<sigmoid_arithmetic>>(m, sigmoid);
  define_elementwise<unary_body<reciprocal_arithmetic>>(m, reciprocal);
}

}  // namespace
#endif  // SB_CPU_VARIANT

}  // namespace sb
