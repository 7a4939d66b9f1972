// Every formula of this family against finite differences, once and twice.

#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/activation_gradients.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/complex_parts.h"
#include "switchboard/ops/elementwise/polynomials.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/elementwise/special_functions.h"
#include "switchboard/ops/elementwise/ternary.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;
using test::values_of;
using Numbers = std::vector<double>;

Tensor leaf(const Numbers& values) {
  const Tensor t = tensor_of({static_cast<int64_t>(values.size())}, values, DType::Float64);
  set_requires_grad(t);
  return t;
}
Tensor complex_leaf(const std::vector<std::complex<double>>& values) {
  const Tensor t =
      tensor_of({static_cast<int64_t>(values.size())}, Numbers(values.size()), DType::Complex128);
  std::copy(values.begin(), values.end(), t.data<std::complex<double>>());
  set_requires_grad(t);
  return t;
}

// Away from the places where what is tested here has a corner.
const Numbers kAny = {-3.3, -1.7, -0.6, 0.3, 1.4, 3.6};
const Numbers kOther = {0.7, -1.2, 2.1, -0.4, 1.9, 1.3};
const Numbers kUnit = {-0.8, -0.3, 0.2, 0.7, 0.45, -0.55};
const Numbers kPositive = {0.15, 0.4, 0.9, 1.6, 2.3, 3.1};
const Numbers kPositive2 = {1.2, 0.7, 2.4, 0.3, 1.9, 0.8};
const Numbers kShare = {0.1, 0.25, 0.4, 0.6, 0.75, 0.9};
const std::vector<std::complex<double>> kComplex = {{0.4, 0.7}, {-0.6, 0.3}, {1.3, -0.8}};

using Function = std::function<Tensor(const Tensors&)>;
struct Row {
  std::string name;
  Function f;
  Tensors inputs;
};

template <auto& op>
Function of_one() {
  return [](const Tensors& in) { return op(in[0]); };
}
template <auto& op>
Function of_two() {
  return [](const Tensors& in) { return op(in[0], in[1]); };
}

void check(const Row& row) {
  INFO(row.name);
  const DifferentiableFunction f = [&](const Tensors& in) { return Tensors{row.f(in)}; };
  CHECK(gradcheck_report(f, row.inputs).to_string() == "");
  CHECK(gradgradcheck_report(f, row.inputs).to_string() == "");
}

#define ONE(op, numbers)                   \
  {                                        \
#op, of_one < op>(), { leaf(numbers) } \
  }
#define TWO(op, first, second)                         \
  {                                                    \
#op, of_two < op>(), { leaf(first), leaf(second) } \
  }
#define CALL(op, numbers, ...)                                            \
  {                                                                       \
#op, [](const Tensors& in) { return __VA_ARGS__; }, { leaf(numbers) } \
  }
#define CALL2(op, first, second, ...)                                                 \
  {                                                                                   \
#op, [](const Tensors& in) { return __VA_ARGS__; }, { leaf(first), leaf(second) } \
  }

TEST_CASE("functions of one number") {
  const std::vector<Row> rows = {
      ONE(acos, kUnit),
      ONE(asin, kUnit),
      ONE(atan, kAny),
      ONE(tan, kUnit),
      CALL(acosh, kPositive, acosh(add_Scalar(in[0], 1))),
      ONE(asinh, kAny),
      ONE(atanh, kUnit),
      ONE(cosh, kAny),
      ONE(sinh, kAny),
      ONE(log2, kPositive),
      ONE(log10, kPositive),
      ONE(sinc, kAny),
      ONE(exp2, kAny),
      ONE(expm1, kAny),
      ONE(log1p, kPositive),
      ONE(erf, kUnit),
      ONE(erfc, kUnit),
      ONE(logit, kShare),
      CALL(logit, kShare, logit(in[0], 0.2)),
      ONE(ceil, kAny),
      ONE(floor, kAny),
      ONE(trunc, kAny),
      ONE(round, kAny),
      CALL(round_decimals, kAny, round_decimals(mul_Scalar(in[0], 1.03), 1)),
      ONE(frac, kAny),
      ONE(sign, kAny),
      ONE(sgn, kAny),
      ONE(deg2rad, kAny),
      ONE(rad2deg, kAny),
      ONE(nan_to_num, kAny),
      ONE(angle, kAny)};
  for (const Row& row : rows) check(row);
}

TEST_CASE("functions of one complex number") {
  const std::vector<Row> rows = {
      {"acos", of_one<acos>(), {complex_leaf(kComplex)}},
      {"asin", of_one<asin>(), {complex_leaf(kComplex)}},
      {"atan", of_one<atan>(), {complex_leaf(kComplex)}},
      {"tan", of_one<tan>(), {complex_leaf(kComplex)}},
      {"acosh", of_one<acosh>(), {complex_leaf(kComplex)}},
      {"asinh", of_one<asinh>(), {complex_leaf(kComplex)}},
      {"atanh", of_one<atanh>(), {complex_leaf(kComplex)}},
      {"cosh", of_one<cosh>(), {complex_leaf(kComplex)}},
      {"sinh", of_one<sinh>(), {complex_leaf(kComplex)}},
      {"log2", of_one<log2>(), {complex_leaf(kComplex)}},
      {"log10", of_one<log10>(), {complex_leaf(kComplex)}},
      {"sinc", of_one<sinc>(), {complex_leaf(kComplex)}},
      {"sgn", of_one<sgn>(), {complex_leaf(kComplex)}},
      {"angle", of_one<angle>(), {complex_leaf(kComplex)}},
      {"silu", of_one<silu>(), {complex_leaf(kComplex)}},
      {"square", of_one<square>(), {complex_leaf(kComplex)}},
      {"pow", of_two<pow>(), {complex_leaf(kComplex), complex_leaf({{2, 1}, {0.5, -1}, {0, 2}})}},
      {"pow of a real base", of_two<pow>(), {leaf({0.4, 1.3, -2.1}), complex_leaf(kComplex)}},
      {"pow by a number",
       [](const Tensors& in) { return pow_Tensor_Scalar(in[0], std::complex<double>(1, 2)); },
       {complex_leaf(kComplex)}},
      {"pow of a number",
       [](const Tensors& in) { return pow_Scalar(std::complex<double>(1, 2), in[0]); },
       {complex_leaf(kComplex)}},
      {"addcmul",
       [](const Tensors& in) { return addcmul(in[0], in[0], in[1], std::complex<double>(0.5, 1)); },
       {complex_leaf(kComplex), complex_leaf({{2, 1}, {0.5, -1}, {0, 2}})}},
      {"addcdiv",
       [](const Tensors& in) { return addcdiv(in[0], in[0], in[1], std::complex<double>(0.5, 1)); },
       {complex_leaf(kComplex), complex_leaf({{2, 1}, {0.5, -1}, {0, 2}})}},
      {"lerp by a number",
       [](const Tensors& in) { return lerp_Scalar(in[0], in[1], std::complex<double>(0.5, 1)); },
       {complex_leaf(kComplex), complex_leaf({{2, 1}, {0.5, -1}, {0, 2}})}},
      {"lerp",
       [](const Tensors& in) { return lerp_Tensor(in[0], in[1], in[0]); },
       {complex_leaf(kComplex), complex_leaf({{2, 1}, {0.5, -1}, {0, 2}})}},
      {"complex", of_two<complex>(), {leaf(kAny), leaf(kOther)}},
      {"polar", of_two<polar>(), {leaf(kPositive), leaf(kOther)}},
      {"where",
       [](const Tensors& in) { return where(gt_Scalar(in[1], 0), in[0], in[1]); },
       {complex_leaf(kComplex), leaf({1, -1, 2})}},
  };
  for (const Row& row : rows) check(row);
}

TEST_CASE("special functions") {
  const std::vector<Row> rows = {
      ONE(lgamma, kPositive),
      ONE(digamma, kPositive),
      CALL(polygamma, kPositive, polygamma(2, in[0])),
      CALL(polygamma_, kPositive, polygamma_(mul_Scalar(in[0], 2), 1)),
      CALL(igamma, kPositive, igamma(tensor_of({6}, kPositive2, DType::Float64), in[0])),
      CALL(igammac, kPositive, igammac(tensor_of({6}, kPositive2, DType::Float64), in[0])),
      CALL(special_zeta, kPositive,
           special_zeta(tensor_of({6}, {2, 3, 2.5, 4, 1.5, 3}, DType::Float64), in[0])),
      CALL(special_zeta, kPositive, special_zeta_self_scalar(2.5, in[0])),
      ONE(erfinv, kUnit),
      ONE(special_erfcx, kUnit),
      ONE(special_ndtr, kAny),
      ONE(special_ndtri, kShare),
      ONE(special_log_ndtr, kAny),
      ONE(special_entr, kPositive),
      ONE(i0, kAny),
      ONE(special_i0e, kAny),
      ONE(special_i1, kAny),
      ONE(special_i1e, kAny)};
  for (const Row& row : rows) check(row);
}

TEST_CASE("functions of two numbers") {
  const std::vector<Row> rows = {
      TWO(atan2, kAny, kOther),
      TWO(copysign, kAny, kOther),
      CALL(copysign_Scalar, kAny, copysign_Scalar(in[0], -2)),
      TWO(hypot, kAny, kOther),
      TWO(xlogy, kAny, kPositive),
      CALL(xlogy_Scalar_Other, kAny, xlogy_Scalar_Other(in[0], 2.5)),
      CALL(xlogy_Scalar_Self, kPositive, xlogy_Scalar_Self(2.5, in[0])),
      TWO(special_xlog1py, kAny, kPositive),
      CALL(special_xlog1py, kAny, special_xlog1py_other_scalar(in[0], 2.5)),
      CALL(special_xlog1py, kPositive, special_xlog1py_self_scalar(2.5, in[0])),
      TWO(logaddexp, kAny, kOther),
      TWO(logaddexp2, kAny, kOther),
      TWO(fmod, kAny, kOther),
      CALL(fmod_Scalar, kAny, fmod_Scalar(in[0], 1.25)),
      TWO(remainder, kAny, kOther),
      CALL(remainder_Scalar, kAny, remainder_Scalar(in[0], 1.25)),
      CALL(remainder_Scalar_Tensor, kOther, remainder_Scalar_Tensor(4.3, in[0])),
      TWO(floor_divide, kAny, kOther),
      TWO(fmax, kAny, kOther),
      TWO(fmin, kAny, kOther),
      TWO(pow, kPositive, kOther),
      CALL(pow, kAny, pow_Tensor_Scalar(in[0], 3)),
      CALL(pow, kAny, pow_Tensor_Scalar(in[0], 2)),
      CALL(pow, kAny, pow_Tensor_Scalar(in[0], 1)),
      CALL(pow, kAny, pow_Tensor_Scalar(in[0], 0)),
      CALL(pow, kAny, pow_Tensor_Scalar(in[0], -2)),
      CALL(pow, kPositive, pow_Tensor_Scalar(in[0], 1.5)),
      CALL(pow, kAny, pow_Scalar(2.5, in[0])),
      ONE(square, kAny),
      CALL2(pow_, kPositive, kOther, pow_(mul_Scalar(in[0], 2), in[1])),
      CALL(pow__Scalar, kAny, pow__Scalar(mul_Scalar(in[0], 2), 3)),
      TWO(float_power, kPositive, kOther),
      TWO(ldexp, kAny, kOther)};
  for (const Row& row : rows) check(row);
}

TEST_CASE("limits, choices and functions of three tensors") {
  const std::vector<Row> rows = {
      CALL(clamp, kAny, clamp(in[0], -1, 2)),
      CALL(clamp, kAny, clamp(in[0], -1)),
      CALL(clamp, kAny, clamp(in[0], std::nullopt, 1)),
      CALL(clamp_min, kAny, clamp_min(in[0], 0)),
      CALL(clamp_max, kAny, clamp_max(in[0], 0)),
      {"clamp",
       [](const Tensors& in) { return clamp_Tensor(in[0], in[1], in[2]); },
       {leaf(kAny), leaf(kOther), leaf({1, 1, 1, 1, 1, 1})}},
      CALL2(clamp, kAny, kOther, clamp_Tensor(in[0], in[1])),
      CALL2(clamp, kAny, kOther, clamp_Tensor(in[0], std::nullopt, in[1])),
      TWO(clamp_min_Tensor, kAny, kOther),
      TWO(clamp_max_Tensor, kAny, kOther),
      CALL(hardtanh, kAny, hardtanh(in[0], -1, 2)),
      ONE(relu6, kAny),
      CALL2(where, kAny, kOther, where(gt(in[0], in[1]), in[0], in[1])),
      CALL(where, kAny, where_ScalarSelf(gt_Scalar(in[0], 0), 2, in[0])),
      CALL(masked_fill, kAny, masked_fill(in[0], gt_Scalar(in[0], 0), 2)),
      CALL2(masked_fill, kAny, Numbers{2},
            masked_fill_Tensor(in[0], gt_Scalar(in[0], 0), sum_all(in[1]))),
      CALL(masked_fill_, kAny, masked_fill_(mul_Scalar(in[0], 2), gt_Scalar(in[0], 0), 2)),
      CALL2(masked_fill_, kAny, Numbers{2},
            masked_fill__Tensor(mul_Scalar(in[0], 2), gt_Scalar(in[0], 0), sum_all(in[1]))),
      {"addcmul",
       [](const Tensors& in) { return addcmul(in[0], in[1], in[2], 0.7); },
       {leaf(kAny), leaf(kOther), leaf(kPositive)}},
      {"addcdiv",
       [](const Tensors& in) { return addcdiv(in[0], in[1], in[2], 0.7); },
       {leaf(kAny), leaf(kOther), leaf(kPositive)}},
      CALL2(lerp, kAny, kOther, lerp_Scalar(in[0], in[1], 0.3)),
      {"lerp",
       [](const Tensors& in) { return lerp_Tensor(in[0], in[1], in[2]); },
       {leaf(kAny), leaf(kOther), leaf(kPositive)}}};
  for (const Row& row : rows) check(row);
}

TEST_CASE("activation functions") {
  const std::vector<Row> rows = {
      ONE(gelu, kAny),
      CALL(gelu, kAny, gelu(in[0], "tanh")),
      ONE(silu, kAny),
      ONE(mish, kAny),
      CALL(softplus, kAny, softplus(in[0], 1.5, 3)),
      CALL(elu, kAny, elu(in[0], 0.7, 1.3, 0.9)),
      ONE(selu, kAny),
      CALL(celu, kAny, celu(in[0], 0.7)),
      ONE(hardsigmoid, kAny),
      ONE(hardswish, kAny),
      CALL(leaky_relu, kAny, leaky_relu(in[0], -0.3)),
      CALL(hardshrink, kAny, hardshrink(in[0], 1)),
      CALL(softshrink, kAny, softshrink(in[0], 1)),
      CALL(threshold, kAny, threshold(in[0], 0.5, 3)),
      ONE(log_sigmoid, kAny),
      ONE(glu, kAny),
      TWO(prelu, kAny, Numbers{0.3}),
      CALL(elu_, kAny, elu_(mul_Scalar(in[0], 2), 0.7)),
      CALL(celu_, kAny, celu_(mul_Scalar(in[0], 2), 0.7)),
      CALL(leaky_relu_, kAny, leaky_relu_(mul_Scalar(in[0], 2), 0.3)),
      CALL2(elu_backward, kAny, kOther, elu_backward(in[0], 0.7, 1.3, 0.9, true, in[1]))};
  for (const Row& row : rows) check(row);
}

TEST_CASE("answers, integers, buffers, Bessel functions and polynomials require no gradient") {
  const Tensor x = leaf(kPositive);
  CHECK_FALSE(requires_grad(isnan(x)));
  CHECK_FALSE(requires_grad(signbit(x)));
  CHECK_FALSE(requires_grad(isclose(x, x)));
  CHECK_FALSE(requires_grad(special_bessel_j0(x)));
  CHECK_FALSE(requires_grad(special_chebyshev_polynomial_t(x, x)));
  CHECK_FALSE(requires_grad(special_chebyshev_polynomial_t_x_scalar(2, x)));
  CHECK_FALSE(requires_grad(special_chebyshev_polynomial_t_n_scalar(x, 2)));
  const auto [output, buffer] = log_sigmoid_forward(x);
  CHECK(requires_grad(output));
  CHECK_FALSE(requires_grad(buffer));
}

TEST_CASE("a derivative that nobody knows is an error of backward, where it is wanted") {
  const Tensor x = leaf(kPositive), order = leaf(kPositive2);
  const Tensor plain = tensor_of({6}, kPositive2, DType::Float64);
  for (const Tensor& y :
       {igamma(order, x), igammac(order, x), special_zeta(order, x),
        special_zeta_other_scalar(order, 2), nextafter(x, order), heaviside(x, order)}) {
    REQUIRE(requires_grad(y));
    CHECK_THROWS_AS(backward(sum_all(y)), Error);
  }
  CHECK_NOTHROW(backward(sum_all(igamma(plain, x))));
}

TEST_CASE("at corners, the gradients are PyTorch's") {
  const auto gradient = [](const Function& f, const Numbers& values) {
    const Tensor x = leaf(values);
    backward(sum_all(f({x})));
    return values_of(grad_of(x));
  };
  CHECK(gradient(of_one<sinc>(), {0}) == Numbers{0});
  CHECK(gradient(of_one<special_i1>(), {0}) == Numbers{0.5});
  CHECK(gradient(of_one<special_i1e>(), {0}) == Numbers{0.5});
  CHECK(gradient([](const Tensors& in) { return clamp(in[0], -1, 2); }, {-1, 0, 2, 3}) ==
        Numbers{0, 1, 0, 0});
  const auto limit = [](double number) { return full({}, number, DType::Float64); };
  CHECK(gradient([&](const Tensors& in) { return clamp_Tensor(in[0], limit(-1), limit(2)); },
                 {-1, 0, 2, 3}) == Numbers{0.5, 1, 0.5, 0});
  CHECK(gradient([&](const Tensors& in) { return clamp_Tensor(limit(1), in[0], limit(1)); },
                 {0, 1, 2}) == Numbers{0, 0, 0});
  CHECK(gradient([&](const Tensors& in) { return clamp_Tensor(limit(1), in[0], limit(2)); },
                 {0, 1, 1.5}) == Numbers{0, 0.5, 1});
  CHECK(gradient([](const Tensors& in) { return pow_Tensor_Scalar(in[0], 0); }, {0}) == Numbers{0});
  CHECK(gradient([](const Tensors& in) { return pow_Scalar(0, in[0]); }, {0, 2}) == Numbers{0, 0});
  CHECK(gradient([](const Tensors& in) { return copysign_Scalar(in[0], -1); }, {0}) == Numbers{0});
  CHECK(gradient([](const Tensors& in) { return xlogy(in[0], in[0]); }, {0.5}) ==
        Numbers{std::log(0.5) + 1});
  CHECK(gradient([](const Tensors& in) { return hardshrink(in[0], 1); }, {-1, 1, 2}) ==
        Numbers{0, 0, 1});
  CHECK(gradient([](const Tensors& in) { return nan_to_num(in[0]); }, {1.0 / 0.0, 1}) ==
        Numbers{0, 1});
}

}  // namespace
}  // namespace sb
