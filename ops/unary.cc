#include "switchboard/ops/unary.h"

#include <cmath>
#include <complex>

#include "switchboard/ops/array_loops.h"
#include "switchboard/ops/elementwise.h"
#include "switchboard/ops/out_by_copy.h"

namespace sb {
namespace {

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

constexpr LoopTable kExpLoops = float_loops([](const auto& x) { return std::exp(x); });
constexpr LoopTable kLogLoops = float_loops([](const auto& x) { return std::log(x); });
constexpr LoopTable kSqrtLoops = float_loops([](const auto& x) { return std::sqrt(x); });
constexpr LoopTable kRsqrtLoops = float_loops([](const auto& x) {
  using T = std::decay_t<decltype(x)>;
  return T(1) / std::sqrt(x);
});
constexpr LoopTable kSinLoops = float_loops([](const auto& x) { return std::sin(x); });
constexpr LoopTable kCosLoops = float_loops([](const auto& x) { return std::cos(x); });
constexpr LoopTable kTanhLoops = float_loops([](const auto& x) { return std::tanh(x); });
constexpr LoopTable kSigmoidLoops = float_loops([](const auto& x) {
  using T = std::decay_t<decltype(x)>;
  return T(1) / (T(1) + std::exp(-x));
});
constexpr LoopTable kReciprocalLoops = float_loops([](const auto& x) {
  using T = std::decay_t<decltype(x)>;
  return T(1) / x;
});

constexpr LoopTable kReluLoops = [] {
  LoopTable table{};
  const auto f = [](const auto& a) {
    using T = element_of<decltype(a)>;
    // NaN and -0 stay.
    return a.unaryExpr([](T x) { return x < T(0) ? T(0) : x; });
  };
  set_loops<1>(&table, IntegerTypes(), f);
  set_loops<1>(&table, FloatTypes(), f);
  return table;
}();

constexpr ElementwiseOp kRelu = {"relu", kUnaryFlags, kReluLoops};

constexpr ElementwiseOp kExp = {"exp", kFloatFlags, kExpLoops};
constexpr ElementwiseOp kLog = {"log", kFloatFlags, kLogLoops};
constexpr ElementwiseOp kSqrt = {"sqrt", kFloatFlags, kSqrtLoops};
constexpr ElementwiseOp kRsqrt = {"rsqrt", kFloatFlags, kRsqrtLoops};
constexpr ElementwiseOp kSin = {"sin", kFloatFlags, kSinLoops};
constexpr ElementwiseOp kCos = {"cos", kFloatFlags, kCosLoops};
constexpr ElementwiseOp kTanh = {"tanh", kFloatFlags, kTanhLoops};
constexpr ElementwiseOp kSigmoid = {"sigmoid", kFloatFlags, kSigmoidLoops};
constexpr ElementwiseOp kReciprocal = {"reciprocal", kFloatFlags, kReciprocalLoops};

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
      return elementwise(kRelu, Tensor(), self);
    });
    m.impl(relu_, key, [](const Tensor& self) {
      check_relu(self);
      return elementwise(kRelu, self, self);
    });
  }
  define_out_by_copy<relu>(m);

  define_elementwise<unary_body<kExp>>(m, exp);
  define_elementwise<unary_body<kLog>>(m, log);
  define_elementwise<unary_body<kSqrt>>(m, sqrt);
  define_elementwise<unary_body<kRsqrt>>(m, rsqrt);
  define_elementwise<unary_body<kSin>>(m, sin);
  define_elementwise<unary_body<kCos>>(m, cos);
  define_elementwise<unary_body<kTanh>>(m, tanh);
  define_elementwise<unary_body<kSigmoid>>(m, sigmoid);
  define_elementwise<unary_body<kReciprocal>>(m, reciprocal);
}

}  // namespace
}  // namespace sb
