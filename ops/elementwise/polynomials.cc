#include "switchboard/ops/elementwise/polynomials.h"

#include <cmath>
#include <limits>

#include "switchboard/core/error.h"
#include "switchboard/ops/elementwise/number_forms.h"
#include "switchboard/ops/elementwise/regular.h"

namespace sb {
namespace {

// p(n) of p(0) = 1, p(1) = first, p(k + 1) = next(k, p(k), p(k - 1)). n is 0 or more.
template <class T, class F>
T by_recurrence(int64_t n, T first, const F& next) {
  if (n == 0) return 1;
  T before = 1, value = first;
  for (int64_t k = 1; k < n && !std::isnan(value); ++k) {
    const T after = next(static_cast<T>(k), value, before);
    before = value;
    value = after;
  }
  return value;
}

// The kinds of Chebyshev's polynomials: with x = cos(a), each is a quotient of sines or cosines.
//
//   T  cos(n a)    U  sin((n + 1) a) / sin(a)
//   V  cos((n + 1/2) a) / cos(a / 2)    W  sin((n + 1/2) a) / sin(a / 2)
enum class Kind { T, U, V, W };

// At 1; at -1, where the sign is that of (-1)^n, V and W change places.
template <class T>
T at_one(Kind kind, int64_t n) {
  const T count = static_cast<T>(n);
  return kind == Kind::U ? count + 1 : kind == Kind::W ? 2 * count + 1 : T(1);
}

// Beyond 1, where x = cosh(a), the same of the hyperbolic functions.
template <class T, class Cosine, class Sine>
T by_angle(Kind kind, int64_t n, T angle, const Cosine& cosine, const Sine& sine) {
  const T count = static_cast<T>(n);
  switch (kind) {
    case Kind::T:
      return cosine(count * angle);
    case Kind::U:
      return sine((count + 1) * angle) / sine(angle);
    case Kind::V:
      return cosine((count + T(0.5)) * angle) / cosine(angle / 2);
    default:
      return sine((count + T(0.5)) * angle) / sine(angle / 2);
  }
}
template <class T>
T by_circle(Kind kind, int64_t n, T x) {
  return by_angle(
      kind, n, std::acos(x), [](T a) { return std::cos(a); }, [](T a) { return std::sin(a); });
}
template <class T>
T by_hyperbola(Kind kind, int64_t n, T x) {
  return by_angle(
      kind, n, std::acosh(x), [](T a) { return std::cosh(a); }, [](T a) { return std::sinh(a); });
}

// The kind that at -x is this one at x, but for the sign.
Kind mirror(Kind kind) { return kind == Kind::V ? Kind::W : kind == Kind::W ? Kind::V : kind; }

// Degrees above which a recurrence takes too long: PyTorch's take hours and more.
constexpr int64_t kMostSteps = 1'000'000;

// Small degrees by recurrence, which is exact there; others within (-1, 1) by the angle. `most` is
// the degree where PyTorch changes.
template <class T>
T chebyshev(Kind kind, T x, int64_t n, int64_t most) {
  if (n < 0) return 0;
  if (x == 1) return at_one<T>(kind, n);
  const T sign_below = n % 2 == 0 ? 1 : -1;
  if (x == -1) return sign_below * at_one<T>(mirror(kind), n);
  if (n > most && std::abs(x) < 1) return by_circle(kind, n, x);
  if (n > kMostSteps && x > 1) return by_hyperbola(kind, n, x);
  if (n > kMostSteps && x < -1) return sign_below * by_hyperbola(mirror(kind), n, -x);
  const T first = kind == Kind::T   ? x
                  : kind == Kind::U ? x + x
                  : kind == Kind::V ? x + x - 1
                                    : x + x + 1;
  return by_recurrence(n, first, [&](T, T value, T before) { return (x + x) * value - before; });
}

// Degrees whose numbers no T holds.
template <class T>
constexpr int64_t kMostHermite = sizeof(T) == 4 ? 128 : 512;

template <class T>
T hermite_h(T x, int64_t n) {
  if (n < 0) return 0;
  if (n > kMostHermite<T>) return std::numeric_limits<T>::quiet_NaN();
  return by_recurrence(n, x + x,
                       [&](T k, T value, T before) { return (x + x) * value - (k + k) * before; });
}
template <class T>
T hermite_he(T x, int64_t n) {
  if (n < 0) return 0;
  if (n > kMostHermite<T>) return std::numeric_limits<T>::quiet_NaN();
  return by_recurrence(n, x, [&](T k, T value, T before) { return x * value - k * before; });
}
template <class T>
T laguerre(T x, int64_t n) {
  if (n < 0) return 0;
  if (x == 0) return 1;
  constexpr int64_t kMost = 100 * kMostSteps;
  SB_CHECK(n <= kMost, "special_laguerre_polynomial_l: n: expected a degree of at most ", kMost,
           ", each of which takes a step, got ", n);
  return by_recurrence(n, 1 - x, [&](T k, T value, T before) {
    return ((k + (k + 1) - x) * value - k * before) / (k + 1);
  });
}

// Of large degrees, by Bessel functions of the angle: as exact as double for n above kMostSteps.
// See Bogaert, Michenaud and Hanot, "O(1) computation of Legendre polynomials", 2012.
double legendre_by_angle(double x, int64_t n) {
  const double order = static_cast<double>(n) + 0.5, size = std::abs(x);
  const auto terms = [&](double angle, double sine, double cosine, double j0, double j1) {
    const double second = (angle * cosine - sine) / (8 * angle * sine) * j1 / order;
    return std::sqrt(angle / sine) * (j0 + second);
  };
  double value = 0;
  if (size < 1) {
    const double angle = std::acos(size);
    value = terms(angle, std::sin(angle), size, ::j0(order * angle), ::j1(order * angle));
  } else {
    constexpr double kOverflow = 700;
    const double angle = std::acosh(size), z = order * angle;
    if (z > kOverflow) return std::numeric_limits<double>::quiet_NaN();  // as by recurrence
    value = terms(angle, std::sinh(angle), size, std::cyl_bessel_i(0, z), std::cyl_bessel_i(1, z));
  }
  return x < 0 && n % 2 != 0 ? -value : value;
}

template <class T>
T legendre(T x, int64_t n) {
  if (n < 0) return 0;
  if (std::abs(x) == 1) return x > 0 || n % 2 == 0 ? 1 : -1;
  if (n > kMostSteps && !std::isnan(x)) return static_cast<T>(legendre_by_angle(x, n));
  return by_recurrence(n, x, [&](T k, T value, T before) {
    return ((k + k + 1) * x * value - k * before) / (k + 1);
  });
}

// n as PyTorch truncates it; of what is no number, as x86 does.
template <class T>
int64_t degree(T n) {
  constexpr T bound = T(9223372036854775808.0);
  return n >= -bound && n < bound ? static_cast<int64_t>(n) : std::numeric_limits<int64_t>::min();
}

}  // namespace

#define SB_POLYNOMIAL(name, ...)                                             \
  SB_ELEMENTWISE(special_##name##_arithmetic, "special_" #name, kFloatFlags, \
                 element_loops<2>(                                           \
                     [](auto x, auto order) {                                \
                       const int64_t n = degree(order);                      \
                       return __VA_ARGS__;                                   \
                     },                                                      \
                     FloatTypes()))
SB_POLYNOMIAL(chebyshev_polynomial_t, chebyshev(Kind::T, x, n, 6));
SB_POLYNOMIAL(chebyshev_polynomial_u, chebyshev(Kind::U, x, n, 8));
SB_POLYNOMIAL(chebyshev_polynomial_v, chebyshev(Kind::V, x, n, 8));
SB_POLYNOMIAL(chebyshev_polynomial_w, chebyshev(Kind::W, x, n, 8));
SB_POLYNOMIAL(shifted_chebyshev_polynomial_t, chebyshev(Kind::T, x + x - 1, n, 6));
SB_POLYNOMIAL(shifted_chebyshev_polynomial_u, chebyshev(Kind::U, x + x - 1, n, 6));
SB_POLYNOMIAL(shifted_chebyshev_polynomial_v, chebyshev(Kind::V, x + x - 1, n, 6));
SB_POLYNOMIAL(shifted_chebyshev_polynomial_w, chebyshev(Kind::W, x + x - 1, n, 4));
SB_POLYNOMIAL(hermite_polynomial_h, hermite_h(x, n));
SB_POLYNOMIAL(hermite_polynomial_he, hermite_he(x, n));
SB_POLYNOMIAL(laguerre_polynomial_l, laguerre(x, n));
SB_POLYNOMIAL(legendre_polynomial_p, legendre(x, n));
#undef SB_POLYNOMIAL

namespace {

SB_LIBRARY_FRAGMENT(aten, m) {
  const auto define_forms = [&](const auto& op, const auto& of_number, const auto& of_degree) {
    define_number_forms(m, of_number, op);
    define_number_forms(m, of_degree, op);
  };
#define SB_POLYNOMIAL(name)                                                        \
  define(m, name, Tag::pointwise).elementwise<regular<name##_arithmetic>>().out(); \
  define_forms(name, name##_x_scalar, name##_n_scalar)
  SB_POLYNOMIAL(special_chebyshev_polynomial_t);
  SB_POLYNOMIAL(special_chebyshev_polynomial_u);
  SB_POLYNOMIAL(special_chebyshev_polynomial_v);
  SB_POLYNOMIAL(special_chebyshev_polynomial_w);
  SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_t);
  SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_u);
  SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_v);
  SB_POLYNOMIAL(special_shifted_chebyshev_polynomial_w);
  SB_POLYNOMIAL(special_hermite_polynomial_h);
  SB_POLYNOMIAL(special_hermite_polynomial_he);
  SB_POLYNOMIAL(special_laguerre_polynomial_l);
  SB_POLYNOMIAL(special_legendre_polynomial_p);
#undef SB_POLYNOMIAL
}

}  // namespace
}  // namespace sb
