// The functions at the baseline; each of the higher capabilities by the operators' conformance
// cases on a machine that has it.

#include "switchboard/ops/cpu/vector_math.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch2/catch.hpp"

namespace sb {
namespace {

template <class T>
using Array = Eigen::Array<T, Eigen::Dynamic, 1>;

// How many units in the last place `got` is off; infinite where it is of another kind.
template <class T>
double error_of(T got, long double exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : wrong;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    // One of them is the largest number.
    const long double largest = std::numeric_limits<T>::max();
    return std::abs(exact) > largest * (1 - 4 * std::numeric_limits<T>::epsilon()) &&
                   std::signbit(rounded) == std::signbit(got)
               ? 1
               : wrong;
  }
  int exponent;
  std::frexp(exact, &exponent);
  if (exact == 0) exponent = std::numeric_limits<T>::min_exponent;
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::abs(got - exact) / unit);
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T x : {T(0),
              Limits::denorm_min(),
              Limits::min() / 2,
              Limits::min(),
              Limits::epsilon(),
              T(0.25),
              T(0.5),
              T(1) - Limits::epsilon(),
              T(1),
              T(1) + Limits::epsilon(),
              T(2),
              T(3),
              T(88.7),
              T(89),
              T(709.7),
              T(710),
              T(1e5),
              T(1e20),
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

template <class T>
Array<T> values() {
  std::vector<T> all = special_values<T>();
  std::mt19937_64 random(1);
  std::normal_distribution<T> small(0, 1), large(0, 100);
  while (all.size() < 20001) {  // odd, so that one is at the end
    all.push_back(small(random));
    all.push_back(large(random));
    all.push_back(1 / large(random));
  }
  return Eigen::Map<Array<T>>(all.data(), static_cast<Eigen::Index>(all.size()));
}

constexpr double kMostUnits = 4.05;  // the exact result is itself rounded

template <class T, class F, class G>
void check_function(const char* name, F f, G exact) {
  const Array<T> x = values<T>(), y = f(x);
  double worst = 0;
  T at = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double error = error_of<T>(y[i], exact(static_cast<long double>(x[i])));
    if (error > worst) worst = error, at = x[i];
  }
  CAPTURE(name, sizeof(T), at);
  CHECK(worst <= kMostUnits);
}
template <class T, class F, class G>
void check_function_of_two(const char* name, F f, G exact) {
  const std::vector<T> special = special_values<T>();
  const auto n = static_cast<Eigen::Index>(special.size());
  Array<T> x(n * n), y(n * n);
  for (Eigen::Index i = 0; i < n * n; ++i) {
    x[i] = special[static_cast<size_t>(i / n)];
    y[i] = special[static_cast<size_t>(i % n)];
  }
  const Array<T> z = f(x, y);
  double worst = 0;
  T at_x = 0, at_y = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double error =
        error_of<T>(z[i], exact(static_cast<long double>(x[i]), static_cast<long double>(y[i])));
    if (error > worst) worst = error, at_x = x[i], at_y = y[i];
  }
  CAPTURE(name, sizeof(T), at_x, at_y);
  CHECK(worst <= kMostUnits);
}

TEST_CASE("functions are right to 4 units in the last place, and at special values", "[ops]"){
#define SB_CHECK_FUNCTION(name)                                       \
  {                                                                   \
    const auto f = [](const auto& x) { return vec::name(x).eval(); }; \
    const auto exact = [](long double x) { return std::name(x); };    \
    check_function<float>(#name, f, exact);                           \
    check_function<double>(#name, f, exact);                          \
  }
    SB_CHECK_FUNCTION(exp) SB_CHECK_FUNCTION(exp2) SB_CHECK_FUNCTION(expm1) SB_CHECK_FUNCTION(log)
        SB_CHECK_FUNCTION(log2) SB_CHECK_FUNCTION(log10) SB_CHECK_FUNCTION(log1p)
            SB_CHECK_FUNCTION(sin) SB_CHECK_FUNCTION(cos) SB_CHECK_FUNCTION(tan)
                SB_CHECK_FUNCTION(asin) SB_CHECK_FUNCTION(acos) SB_CHECK_FUNCTION(atan)
                    SB_CHECK_FUNCTION(sinh) SB_CHECK_FUNCTION(cosh) SB_CHECK_FUNCTION(tanh)
                        SB_CHECK_FUNCTION(asinh) SB_CHECK_FUNCTION(acosh) SB_CHECK_FUNCTION(atanh)
                            SB_CHECK_FUNCTION(erf) SB_CHECK_FUNCTION(erfc) SB_CHECK_FUNCTION(sqrt)
#undef SB_CHECK_FUNCTION
#define SB_CHECK_FUNCTION(name)                                                         \
  {                                                                                     \
    const auto f = [](const auto& x, const auto& y) { return vec::name(x, y).eval(); }; \
    const auto exact = [](long double x, long double y) { return std::name(x, y); };    \
    check_function_of_two<float>(#name, f, exact);                                      \
    check_function_of_two<double>(#name, f, exact);                                     \
  }
                                SB_CHECK_FUNCTION(pow) SB_CHECK_FUNCTION(atan2)
                                    SB_CHECK_FUNCTION(hypot)
#undef SB_CHECK_FUNCTION
}

TEST_CASE("an element's result does not depend on where it stands", "[ops]") {
  const Array<float> x = values<float>();
  const Array<float> all = 1 / (1 + vec::exp(-x));
  for (Eigen::Index i = 42; i < 100; ++i) {
    const Array<float> one = 1 / (1 + vec::exp(-x.segment(i, 1)));
    CHECK(one[0] == all[i]);
  }
}

TEST_CASE("complex numbers get the standard library's functions", "[ops]") {
  Array<std::complex<float>> z(3);
  z << std::complex<float>(1, 2), std::complex<float>(0, 0), std::complex<float>(-1, 0.5f);
  const Array<std::complex<float>> y = vec::exp(z);
  for (Eigen::Index i = 0; i < 3; ++i) CHECK(y[i] == std::exp(z[i]));
}

}  // namespace
}  // namespace sb
