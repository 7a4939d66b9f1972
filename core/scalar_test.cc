#include "switchboard/core/scalar.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"

namespace sb {
namespace {

TEST_CASE("a scalar remembers what kind of number it was made from", "[core][scalar]") {
  CHECK(Scalar(true).is_bool());
  CHECK(Scalar(3).is_int());
  CHECK(Scalar(uint8_t{3}).is_int());
  CHECK(Scalar(2.5f).is_floating_point());
  CHECK(Scalar(std::complex<float>(1, 2)).is_complex());
  CHECK(Scalar().is_int());
}

TEST_CASE("a scalar's tensor has the default floating-point dtype", "[core][scalar]") {
  CHECK(Scalar(true).dtype() == DType::Bool);
  CHECK(Scalar(1).dtype() == DType::Int64);
  CHECK(Scalar(1.0).dtype() == DType::Float32);
  CHECK(Scalar(std::complex<double>(1, 2)).dtype() == DType::Complex64);
  set_default_dtype(DType::Float64);
  CHECK(Scalar(1.0).dtype() == DType::Float64);
  CHECK(Scalar(std::complex<double>(1, 2)).dtype() == DType::Complex128);
  set_default_dtype(DType::Float32);
}

TEST_CASE("a scalar prints as Python prints the number", "[core][scalar]") {
  const double nan = NAN, inf = INFINITY;
  const std::pair<double, const char*> reals[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {2.5, "2.5"},
      {0.1, "0.1"},
      {1e+16, "1e+16"},
      {1000000000000000.0, "1000000000000000.0"},
      {1.2345678901234568e+17, "1.2345678901234568e+17"},
      {0.0001, "0.0001"},
      {1e-05, "1e-05"},
      {nan, "nan"},
      {inf, "inf"},
      {-inf, "-inf"},
      {5e-324, "5e-324"},
      {1.7976931348623157e+308, "1.7976931348623157e+308"},
      {9007199254740992.0, "9007199254740992.0"},
      {0.3333333333333333, "0.3333333333333333"},
      {9999999999999998.0, "9999999999999998.0"},
      {0.00012345, "0.00012345"},
  };
  for (const auto& [value, text] : reals) CHECK(Scalar(value).to_string() == text);
  const std::pair<std::complex<double>, const char*> complexes[] = {
      {{1.0, 2.0}, "(1+2j)"},      {{1.0, -2.0}, "(1-2j)"},  {{0.0, 2.0}, "2j"},
      {{-0.0, 2.0}, "(-0+2j)"},    {{0.0, -0.0}, "-0j"},     {{1.5, nan}, "(1.5+nanj)"},
      {{inf, -inf}, "(inf-infj)"}, {{0.0, 1e+20}, "1e+20j"}, {{1e-07, 0.0}, "(1e-07+0j)"},
  };
  for (const auto& [value, text] : complexes) CHECK(Scalar(value).to_string() == text);
  CHECK(Scalar(true).to_string() == "True");
  CHECK(Scalar(false).to_string() == "False");
  CHECK(Scalar(INT64_MIN).to_string() == "-9223372036854775808");
}

TEST_CASE("a scalar converts to every element type", "[core][scalar]") {
  for (int i = 0; i < kNumPlainDTypes; ++i) {
    visit_dtype(static_cast<DType>(i), []<class T>() {
      CHECK(Scalar(1).to<T>() == T(1));
      CHECK(Scalar(1.0).to<T>() == T(1));
      CHECK(Scalar(true).to<T>() == T(1));
      CHECK(Scalar(std::complex<double>(1, 0)).to<T>() == T(1));
    });
  }
  CHECK(Scalar(std::complex<double>(1, 2)).to<std::complex<float>>() == std::complex<float>(1, 2));
}

TEST_CASE("an imaginary part is not dropped in silence", "[core][scalar]") {
  CHECK_THROWS_AS(Scalar(std::complex<double>(1, 2)).to<double>(), RuntimeError);
  CHECK_THROWS_WITH(Scalar(std::complex<double>(1, 2)).to<int>(), Catch::Contains("(1+2j)"));
}

TEST_CASE("floating-point values outside of int64 convert to its minimum", "[core][scalar]") {
  CHECK(Scalar(1e300).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(-1e300).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(NAN).to<int64_t>() == INT64_MIN);
  CHECK(Scalar(9223372036854775808.0).to<int64_t>() == INT64_MIN);
}

TEST_CASE("negation keeps the kind, wraps int64 and refuses bool", "[core][scalar]") {
  CHECK(-Scalar(3) == Scalar(-3));
  CHECK(-Scalar(2.5) == Scalar(-2.5));
  CHECK(-Scalar(std::complex<double>(1, -2)) == Scalar(std::complex<double>(-1, 2)));
  CHECK(-Scalar(INT64_MIN) == Scalar(INT64_MIN));
  CHECK_THROWS_AS(-Scalar(true), RuntimeError);
}

TEST_CASE("scalars are equal when kind and value are", "[core][scalar]") {
  CHECK(Scalar(1) == Scalar(int8_t{1}));
  CHECK_FALSE(Scalar(1) == Scalar(1.0));
  CHECK_FALSE(Scalar(1) == Scalar(true));
  CHECK_FALSE(Scalar(NAN) == Scalar(NAN));
}

}  // namespace
}  // namespace sb
