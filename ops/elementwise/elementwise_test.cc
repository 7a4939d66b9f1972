// What the recorded cases cannot show of the elementwise operators.

#include <cmath>
#include <limits>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/polynomials.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/elementwise/predicates.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/elementwise/special_functions.h"
#include "switchboard/ops/elementwise/ternary.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::holds, test::tensor_of, test::values_of, test::sizes_of, test::strides_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("integers wrap in powers, products and shifts") {
  CHECK(holds(pow_Tensor_Scalar(tensor_of({2}, {2, -3}, DType::Int8), 9), {0, 29}));
  CHECK(holds(
      pow(tensor_of({3}, {-1, 1, 5}, DType::Int64), tensor_of({3}, {-3, -2, -1}, DType::Int64)),
      {-1, 1, 0}));
  const Tensor big = tensor_of({1}, {32767}, DType::Int16);
  CHECK(holds(addcmul(big, big, big, 2), {-32767}));
  CHECK(holds(bitwise_left_shift(tensor_of({2}, {1, 1}, DType::Int32),
                                 tensor_of({2}, {31, 4}, DType::Int32)),
              {-2147483648.0, 16}));
}

TEST_CASE("a shift by more bits than there are, or fewer than none, leaves the sign alone") {
  for (const double bits : {32, 33, -1}) {
    const Tensor x = tensor_of({2}, {5, -5}, DType::Int32), y = tensor_of({}, {bits}, DType::Int32);
    CHECK(holds(bitwise_left_shift(x, y), {0, 0}));
    CHECK(holds(bitwise_right_shift(x, y), {0, -1}));
  }
}

TEST_CASE("bools have powers of bools, and no others") {
  const Tensor x = tensor_of({2}, {0, 1}, DType::Bool);
  CHECK(holds(pow_Tensor_Scalar(x, true), {0, 1}));
  CHECK(holds(pow_Tensor_Scalar(x, false), {1, 1}));
  CHECK(pow_Tensor_Scalar(x, true).dtype() == DType::Bool);
  CHECK_THROWS_AS(pow(x, x), NotImplementedError);
}

TEST_CASE("ldexp goes through numbers that its dtype does not hold") {
  const Tensor x = tensor_of({1}, {std::ldexp(1.0, -20)}, DType::Float16);
  const Tensor y = ldexp(x, tensor_of({1}, {17}, DType::Int32));
  CHECK(y.dtype() == DType::Float16);
  CHECK(holds(y, {0.125}));
}

TEST_CASE("prelu is laid out as a tensor like self, whatever the strides of what is empty") {
  const Tensor x =
      empty_strided({1, 0, 3}, {6, 6, 2}, DType::Float32, std::nullopt, std::nullopt, std::nullopt);
  CHECK(strides_of(prelu(x, tensor_of({}, {0.5}))) == test::Sizes{6, 6, 2});
  const Tensor y = transpose(full({3, 3}, -2.0), 0, 1);
  CHECK(strides_of(prelu(y, tensor_of({}, {0.5}))) == test::Sizes{1, 3});
}

TEST_CASE("an exponent is not rounded: it decides the sign of a power, and may be beyond float") {
  const Tensor x = tensor_of({5}, {-2, 2, -1, 0, 0.5});
  // Odd, and even once it is rounded to float; as many elements as a packet has, too.
  CHECK(holds(pow_Tensor_Scalar(x, 16777217), {-kInfinity, kInfinity, -1, 0, 0}));
  CHECK(holds(pow_Tensor_Scalar(x, -33554433.0), {0, 0, -1, kInfinity, kInfinity}));
  CHECK(holds(pow_Tensor_Scalar(full({33}, -1.0), 16777217), std::vector<double>(33, -1)));
  CHECK(holds(pow_Tensor_Scalar(x, 1e39), {kInfinity, kInfinity, 1, 0, 0}));
  CHECK(holds(pow_Tensor_Scalar(x, -1e300), {0, 0, 1, kInfinity, kInfinity}));
  CHECK(holds(pow_Tensor_Scalar(to_dtype(x, DType::Float64), 16777217),
              {-kInfinity, kInfinity, -1, 0, 0}));
  const Tensor y = clone(x);
  CHECK(pow__Scalar(y, 16777217).is_same(y));
  CHECK(holds(y, {-kInfinity, kInfinity, -1, 0, 0}));
  // The smaller types refuse what they cannot hold, as in PyTorch.
  CHECK_THROWS_AS(pow_Tensor_Scalar(to_dtype(x, DType::Float16), 70000), RuntimeError);
  CHECK_THROWS_AS(pow_Tensor_Scalar(to_dtype(x, DType::BFloat16), 1e39), RuntimeError);
  CHECK(holds(pow_Tensor_Scalar(to_dtype(x, DType::BFloat16), 70000),
              {kInfinity, kInfinity, 1, 0, 0}));
}

TEST_CASE("gelu is within 4e-7 of |x|, and nothing where x is far below 0") {
  const int n = 20001;
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back((i - n / 2) / 1000.0);
  const std::vector<double> got = values_of(gelu(tensor_of({n}, values)));
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<float>(values[i]);
    const double exact = x / 2 * std::erfc(-x / std::sqrt(2));
    worst = std::max(worst, std::abs(got[i] - exact) - 4e-7 * std::abs(x));
    CHECK(got[i] * x >= 0);
  }
  CHECK(worst <= 0);
  const std::vector<double> far = values_of(gelu(tensor_of({4}, {-1e5, 1e5, kInfinity, NAN})));
  CHECK(far[0] == 0);
  CHECK(far[1] == static_cast<float>(1e5));
  CHECK(far[2] == kInfinity);
  CHECK(std::isnan(far[3]));
}

TEST_CASE("the bytes of bools may be any") {
  const Tensor mask = tensor_of({3}, {0, 1, 1}, DType::Bool);
  static_cast<uint8_t*>(mask.data_ptr())[1] = 0x40;
  CHECK(holds(where(mask, tensor_of({3}, {1, 2, 3}), tensor_of({3}, {4, 5, 6})), {4, 2, 3}));
  const Tensor truths = tensor_of({3}, {1, 1, 0}, DType::Bool);
  CHECK(holds(bitwise_and(mask, truths), {0, 1, 0}));
  CHECK(holds(bitwise_xor(mask, truths), {1, 0, 1}));
  CHECK(holds(bitwise_not(mask), {1, 0, 0}));
}

TEST_CASE("polygamma takes any order") {
  CHECK(values_of(polygamma(0, tensor_of({1}, {1}, DType::Float64)))[0] ==
        Approx(-0.57721566490153287));
  for (const int64_t n : {int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
    const double huge = values_of(polygamma(n, tensor_of({1}, {1.5}, DType::Float64)))[0];
    CHECK_FALSE(std::isfinite(huge));
  }
}

TEST_CASE("the lowest integer has a remainder by -1, a divisor and a multiple") {
  for (DType dtype : {DType::Int8, DType::Int16, DType::Int32, DType::Int64}) {
    const double low = -std::ldexp(1.0, static_cast<int>(itemsize(dtype)) * 8 - 1);
    const Tensor lowest = tensor_of({1}, {low}, dtype), minus_one = tensor_of({1}, {-1}, dtype);
    CHECK(holds(fmod(lowest, minus_one), {0}));
    CHECK(holds(remainder(lowest, minus_one), {0}));
    CHECK(holds(gcd(lowest, tensor_of({1}, {6}, dtype)), {2}));
    CHECK(holds(lcm(lowest, minus_one), {low}));
  }
}

TEST_CASE("a division by 0 changes nothing") {
  const Tensor x = tensor_of({2, 2}, {5, 6, 7, 8}, DType::Int32);
  // 256 is 0 in uint8.
  CHECK_THROWS_AS(fmod_(tensor_of({1}, {5}, DType::UInt8), tensor_of({}, {256}, DType::Int64)),
                  RuntimeError);
  CHECK_THROWS_AS(remainder_(x, tensor_of({2}, {3, 0}, DType::Int32)), RuntimeError);
  CHECK_THROWS_AS(floor_divide_(x, tensor_of({2}, {3, 0}, DType::Int32)), RuntimeError);
  CHECK(holds(x, {5, 6, 7, 8}));
}

TEST_CASE("a number that does not fit changes nothing") {
  const Tensor x = tensor_of({2}, {1, 2}, DType::UInt8);
  CHECK_THROWS_AS(clamp_(x, 0, 300), RuntimeError);
  CHECK_THROWS_AS(threshold_(x, 5, 300), RuntimeError);
  CHECK_THROWS_AS(masked_fill_(x, tensor_of({2}, {1, 0}, DType::Bool), 300), RuntimeError);
  CHECK(holds(x, {1, 2}));
  const Tensor y = tensor_of({2}, {1, 2});
  CHECK_THROWS_AS(leaky_relu_(y, std::complex<double>(0, 1)), RuntimeError);
  CHECK(holds(y, {1, 2}));
}

TEST_CASE("the order of limits, NaN and infinities in clamp") {
  const double nan = std::nan("");
  const Tensor x = tensor_of({3}, {-kInfinity, 0.5, kInfinity});
  CHECK(holds(clamp(x, 2, 1), {1, 1, 1}));
  CHECK(holds(clamp(x, 0, 1), {0, 0.5, 1}));
  for (double v : values_of(clamp(x, 0, nan))) CHECK(std::isnan(v));
  CHECK(std::isnan(values_of(clamp_min(tensor_of({1}, {nan}), 0))[0]));
  CHECK(std::isnan(values_of(clamp_Tensor(x, tensor_of({}, {nan}), std::nullopt))[0]));
}

TEST_CASE("masked_fill reads a mask that is the tensor itself") {
  const Tensor x = tensor_of({3}, {1, 0, 1}, DType::Bool);
  CHECK(holds(masked_fill_(x, x, false), {0, 0, 0}));
}

TEST_CASE("where takes its shape from all three, and moves every size of element") {
  const Tensor condition = tensor_of({2, 1}, {1, 0}, DType::Bool);
  for (DType dtype : {DType::Int8, DType::Float16, DType::BFloat16, DType::Int16, DType::Float32,
                      DType::Int64, DType::Complex64, DType::Complex128}) {
    const Tensor self = tensor_of({3}, {1, 2, 3}, dtype), other = tensor_of({}, {7}, dtype);
    const Tensor chosen = where(condition, self, other);
    CHECK(chosen.dtype() == dtype);
    CHECK(holds(chosen, {1, 2, 3, 7, 7, 7}));
  }
  CHECK_THROWS_AS(where(tensor_of({2}, {1, 0}), zeros({2}), zeros({2})), RuntimeError);
}

// Each is computed for one element and for many, so that packets are held to the scalar function.
TEST_CASE("functions are right to some units in the last place, in packets and alone") {
  struct Case {
    const char* name;
    Tensor (*function)(const Tensor&);
    double (*reference)(double);
  };
  const Case cases[] = {
      {"acos", [](const Tensor& x) { return acos(x); }, [](double x) { return std::acos(x); }},
      {"asinh", [](const Tensor& x) { return asinh(x); }, [](double x) { return std::asinh(x); }},
      {"expm1", [](const Tensor& x) { return expm1(x); }, [](double x) { return std::expm1(x); }},
      {"erfc", [](const Tensor& x) { return erfc(x); }, [](double x) { return std::erfc(x); }},
      {"log1p", [](const Tensor& x) { return log1p(x); }, [](double x) { return std::log1p(x); }},
      {"gelu", [](const Tensor& x) { return gelu(x); },
       [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2)); }},
      {"silu", [](const Tensor& x) { return silu(x); },
       [](double x) { return x / (1 + std::exp(-x)); }},
      {"lgamma", [](const Tensor& x) { return lgamma(x); },
       [](double x) { return std::lgamma(x); }},
  };
  std::vector<double> points;
  for (int i = -37; i <= 37; ++i) points.push_back(i / 40.0);
  for (const Case& c : cases) {
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const double epsilon = dtype == DType::Float32 ? 0x1p-23 : 0x1p-52;
      const Tensor x = tensor_of({static_cast<int64_t>(points.size())}, points, dtype);
      const std::vector<double> inputs = values_of(x), all = values_of(c.function(x));
      for (size_t i = 0; i < inputs.size(); ++i) {
        CAPTURE(c.name, to_string(dtype), inputs[i]);
        const double expected = c.reference(inputs[i]);
        if (std::isinf(expected)) {
          CHECK(all[i] == expected);
          continue;
        }
        CHECK(std::abs(all[i] - expected) <= 8 * epsilon * std::max(1.0, std::abs(expected)));
        CHECK(values_of(c.function(tensor_of({1}, {inputs[i]}, dtype)))[0] == all[i]);
      }
    }
  }
}

TEST_CASE("saturated activations give numbers, not NaN") {
  const Tensor x = tensor_of({4}, {-200, -90, 90, 200});
  CHECK(holds(softplus(x), {0, values_of(softplus(x))[1], 90, 200}));
  for (const Tensor& y : {gelu(x), gelu(x, "tanh"), silu(x), hardswish(x)}) {
    CHECK(std::abs(values_of(y)[0]) < 1e-30);
    CHECK(values_of(y)[3] == 200);
  }
  CHECK(values_of(log_sigmoid(x))[0] == -200);
}

TEST_CASE("a new name reaches the operator that it stands for, with all forms") {
  const Dispatcher& ops = default_dispatcher();
  for (const char* name :
       {"aten::absolute", "aten::absolute_", "aten::absolute.out", "aten::divide_.Tensor_mode",
        "aten::special_expit.out", "aten::__ixor__.Scalar", "aten::clip_.Tensor"}) {
    CAPTURE(name);
    CHECK(ops.find_op(name).has_value());
  }
  const Tensor x = tensor_of({2}, {-1, 2});
  ops.find_op_or_throw("aten::absolute_").call({x});
  CHECK(holds(x, {1, 2}));
}

TEST_CASE("results of numbers first are contiguous, whatever the strides") {
  const Tensor x = t(ones({2, 3}));
  CHECK(strides_of(pow_Scalar(2, x)) == std::vector<int64_t>{2, 1});
  CHECK(strides_of(pow(x, x)) == std::vector<int64_t>{1, 3});
}

TEST_CASE("isfinite of integers has their strides, of floats those of a new result") {
  for (const Device place : test::places()) {
    const auto strided = [&](DType dtype) {
      return as_strided(tensor_of({6}, {}, dtype, place), {1, 0, 3}, {3, 0, 1});
    };
    CHECK(strides_of(isfinite(strided(DType::Int64))) == test::Sizes{3, 0, 1});
    CHECK(strides_of(isfinite(strided(DType::Float32))) == test::Sizes{3, 3, 1});
  }
}

TEST_CASE("isclose looks for NaN in place, and so does not broadcast those of self") {
  const Tensor one = tensor_of({1}, {NAN}), three = tensor_of({3}, {NAN, 1, NAN});
  CHECK(holds(isclose(three, one, 1e-5, 1e-8, true), {1, 0, 1}));
  CHECK_THROWS_AS(isclose(one, three, 1e-5, 1e-8, true), RuntimeError);
  CHECK(holds(isclose(one, three), {0, 0, 0}));
}

TEST_CASE("the inverse of the normal distribution is NaN outside 0 and 1") {
  const std::vector<double> y = values_of(special_ndtri(tensor_of({4}, {-1, 0, 1, 2})));
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == -kInfinity);
  CHECK(y[2] == kInfinity);
  CHECK(std::isnan(y[3]));
}

TEST_CASE("orthogonal polynomials are exact for small degrees, and 0 below", "[ops][elementwise]") {
  const Tensor x = test::tensor_of({3}, {2, -1, 1}), n = test::tensor_of({}, {3});
  CHECK(test::holds(special_chebyshev_polynomial_t(x, n), {26, -1, 1}));
  CHECK(test::holds(special_chebyshev_polynomial_u(x, n), {56, -4, 4}));
  CHECK(test::holds(special_hermite_polynomial_he(x, n), {2, 2, -2}));
  CHECK(test::holds(special_legendre_polynomial_p(x, n), {17, -1, 1}));
  CHECK(test::holds(special_laguerre_polynomial_l_n_scalar(x, -1), {0, 0, 0}));
}

TEST_CASE("polynomials of degrees that no recurrence reaches obey it", "[ops][elementwise]") {
  // p(n + 1) - 2 x p(n) + p(n - 1) = 0, and Legendre's (n + 1) p(n + 1) - (2 n + 1) x p(n) +
  // n p(n - 1) = 0.
  const auto rest = [](const auto& polynomial, double x, double n, bool legendre) {
    const std::vector<double> p = values_of(polynomial(
        tensor_of({1}, {x}, DType::Float64), tensor_of({3}, {n - 1, n, n + 1}, DType::Float64)));
    const double left = legendre ? (n + 1) / n * p[2] + p[0] : p[2] + p[0];
    const double right = legendre ? (2 * n + 1) / n * x * p[1] : 2 * x * p[1];
    return (left - right) / (std::abs(left) + std::abs(p[1]));
  };
  for (const double x : {0.3, -0.75, 1.000000001, -1.000000001}) {
    CAPTURE(x);
    const auto same = Approx(0).margin(1e-6);
    CHECK(rest(special_legendre_polynomial_p, x, 3e6, true) == same);
    CHECK(rest(special_chebyshev_polynomial_t, x, 3e6, false) == same);
    CHECK(rest(special_chebyshev_polynomial_u, x, 3e6, false) == same);
    CHECK(rest(special_chebyshev_polynomial_v, x, 3e6, false) == same);
    CHECK(rest(special_chebyshev_polynomial_w, x, 3e6, false) == same);
  }
  const Tensor x = tensor_of({1}, {0.3}), most = tensor_of({1}, {4.5e18});
  CHECK(std::isfinite(values_of(special_legendre_polynomial_p(x, most))[0]));
  CHECK_THROWS_AS(special_laguerre_polynomial_l(x, most), RuntimeError);
}

TEST_CASE("zeta of numbers far below 0 takes no step for each", "[ops][elementwise]") {
  const Tensor far = tensor_of({2}, {-1000.3, -1.75e12 - 0.5}, DType::Float64);
  const std::vector<double> two = values_of(special_zeta_self_scalar(2, far));
  CHECK(two[0] == Approx(15.078414502249121).epsilon(1e-12));
  CHECK(two[1] == Approx(9.8696044010893586).epsilon(1e-12));  // pi^2
  CHECK(values_of(special_zeta_self_scalar(3, far))[0] ==
        Approx(-34.418771358084214).epsilon(1e-12));
}

TEST_CASE("polynomials of large degree go by the angle inside of -1 and 1", "[ops][elementwise]") {
  const Tensor x = test::tensor_of({1}, {0.5}, DType::Float64);
  CHECK(test::values_of(special_chebyshev_polynomial_t_n_scalar(x, 100))[0] ==
        Approx(std::cos(100 * std::acos(0.5))));
  CHECK(test::values_of(special_shifted_chebyshev_polynomial_w_n_scalar(x, 10))[0] ==
        Approx(std::sin(10.5 * std::acos(0.0)) / std::sin(std::acos(0.0) / 2)));
}

TEST_CASE("Airy's function on both sides of 0", "[ops][elementwise]") {
  const Tensor x = test::tensor_of({4}, {-2, 0, 1, 200}, DType::Float64);
  const std::vector<double> expected = {0.22740742820168557, 0.35502805388781724,
                                        0.13529241631288141, 0};
  const std::vector<double> values = test::values_of(special_airy_ai(x));
  for (size_t i = 0; i < expected.size(); ++i) CHECK(values[i] == Approx(expected[i]));
}

TEST_CASE("a number is its fraction times a power of 2", "[ops][elementwise]") {
  const auto [mantissa, exponent] = frexp(test::tensor_of({3}, {0, -5, 0.3}, DType::Float64));
  CHECK(test::holds(mantissa, {0, -0.625, 0.6}));
  CHECK(test::holds(exponent, {0, 3, -1}));
  CHECK(exponent.dtype() == DType::Int32);
  CHECK_THROWS_AS(frexp(test::tensor_of({1}, {1}, DType::Int64)), RuntimeError);
}

}  // namespace
}  // namespace sb
