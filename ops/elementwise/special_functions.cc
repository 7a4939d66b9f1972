#include "switchboard/ops/elementwise/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "Eigen/Core"
#include "switchboard/core/dtype.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/number_forms.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace sb {
namespace {

constexpr double kPi = std::numbers::pi, kSqrt2 = std::numbers::sqrt2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double log_gamma(double x) {
  int sign;  // std::lgamma writes it to a global variable
  return ::lgamma_r(x, &sign);
}

// By recurrence to where the asymptotic series holds, and by reflection below 0.
double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (x == std::trunc(x)) return kNaN;
    double whole;
    return digamma_of(1 - x) - kPi / std::tan(kPi * std::modf(x, &whole));
  }
  double result = 0;
  for (; x < 10; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 -
       z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * 691.0 / 32760)))));
  return result + std::log(x) - 0.5 / x - series;
}

double zeta_of(double x, double q) {
  if (x == 1) return kInfinity;
  if (x < 1) return kNaN;
  if (q <= 0 && q == std::floor(q)) return kInfinity;
  if (q <= 0 && x != std::floor(x)) return kNaN;
  constexpr double kFarBelow = -1000;  // Eigen adds term by term from q up to 0
  if (q > kFarBelow) return Eigen::numext::zeta(x, q);
  // Those terms, from 0 down, are the first of another such sum.
  const double above = q - std::floor(q), below = 1 - above;
  const double terms =
      Eigen::numext::zeta(x, below) - Eigen::numext::zeta(x, below - std::floor(q));
  return Eigen::numext::zeta(x, above) + (std::fmod(x, 2) == 0 ? terms : -terms);
}

// The derivative of digamma, rounded as it is in PyTorch: near the poles, the sine of a multiple of
// pi shows it.
template <class T>
T trigamma_of(T x) {
  T result = 0;
  const bool reflected = x < T(0.5);
  if (reflected) {
    const T pi = T(kPi), sine = std::sin(pi * x);
    result -= pi * pi / (sine * sine);
    x = 1 - x;
  }
  for (int i = 0; i < 6; ++i, ++x) result += 1 / (x * x);
  const T z = 1 / (x * x);
  result += (1 + 1 / (2 * x) + z * (T(1.0 / 6) - z * (T(1.0 / 30) - z * T(1.0 / 42)))) / x;
  return reflected ? -result : result;
}

template <class T>
T polygamma_of(double order, T x) {
  if (order == 0) return static_cast<T>(digamma_of(x));
  if (order == 1) return trigamma_of(x);
  const double sign = std::fmod(order, 2) == 0 ? -1 : 1;
  return static_cast<T>(sign * std::exp(log_gamma(order + 1)) * zeta_of(order + 1, x));
}

// exp(x^2) * erfc(x).
double erfcx_of(double x) {
  if (x < 26) return std::exp(x * x) * std::erfc(x);
  const double z = 1 / (2 * x * x);
  return std::numbers::inv_sqrtpi / x * (1 - z * (1 - z * (3 - z * 15)));
}

double log_ndtr_of(double x) {
  return x < -1 ? std::log(erfcx_of(-x / kSqrt2) / 2) - x * x / 2
                : std::log1p(-std::erfc(x / kSqrt2) / 2);
}

// Newton's method mends what the quotient of polynomials leaves.
double erfinv_of(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? kInfinity : y == -1 ? -kInfinity : kNaN;
  if (y == 0) return y;
  // The tail: erfc(x) = 1 - |y|.
  double x = std::abs(Eigen::numext::ndtri(0.5 * (1 - std::abs(y)))) / kSqrt2;
  for (int i = 0; i < 3; ++i) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    if (slope == 0) break;
    x -= (std::abs(y) < 0.5 ? std::erf(x) - std::abs(y) : 1 - std::abs(y) - std::erfc(x)) / slope;
  }
  return std::copysign(x, y);
}

double entropy_of(double x) {
  if (x > 0) return -x * std::log(x);
  return x == 0 ? 0 : x < 0 ? -kInfinity : x;
}

double spherical_bessel_of(double x) {
  if (std::isinf(x)) return 0;
  if (std::abs(x) < 0.5) {
    const double z = x * x;
    return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
  }
  return std::sin(x) / x;
}

// By Bessel functions of order 1/3, at what the exponent is far from 0.
double airy_of(double x) {
  constexpr double kThird = 1.0 / 3;
  if (!std::isfinite(x)) return kNaN;
  if (x > 103.892) return 0;
  if (x == 0) return 0.355028053887817239260;
  const double size = std::abs(x), root = std::sqrt(size), z = 2 * kThird * size * root;
  if (x > 0) return root * std::numbers::inv_sqrt3 / kPi * std::cyl_bessel_k(kThird, z);
  return root / 2 *
         (std::cyl_bessel_j(kThird, z) - std::numbers::inv_sqrt3 * std::cyl_neumann(kThird, z));
}

}  // namespace

// Computed in double.
#define SB_SPECIAL(name, ...)                           \
  SB_ELEMENTWISE(name##_arithmetic, #name, kFloatFlags, \
                 element_loops<1>([](double x) -> double { return __VA_ARGS__; }, FloatTypes()))
// Or in the element's type: as PyTorch, which has polynomials of fewer terms for float.
#define SB_SPECIAL_AS_IS(name, ...)                     \
  SB_ELEMENTWISE(name##_arithmetic, #name, kFloatFlags, \
                 element_loops<1>([](auto x) { return __VA_ARGS__; }, FloatTypes()))
SB_SPECIAL(lgamma, log_gamma(x));
SB_SPECIAL(digamma, digamma_of(x));
SB_SPECIAL(erfinv, erfinv_of(x));
SB_SPECIAL(special_erfcx, erfcx_of(x));
SB_SPECIAL(special_ndtr, std::erfc(-x / kSqrt2) / 2);
SB_SPECIAL(special_log_ndtr, log_ndtr_of(x));
SB_SPECIAL(special_entr, entropy_of(x));
SB_SPECIAL(special_spherical_bessel_j0, spherical_bessel_of(x));
SB_SPECIAL(special_airy_ai, airy_of(x));
SB_SPECIAL_AS_IS(i0, Eigen::numext::bessel_i0(x));
SB_SPECIAL(special_bessel_j0, Eigen::numext::bessel_j0(x));
SB_SPECIAL(special_bessel_j1, Eigen::numext::bessel_j1(x));
SB_SPECIAL(special_bessel_y0, x < 0 ? kNaN : Eigen::numext::bessel_y0(x));
SB_SPECIAL(special_bessel_y1, x < 0 ? kNaN : Eigen::numext::bessel_y1(x));
SB_SPECIAL(special_modified_bessel_i0, Eigen::numext::bessel_i0(x));
SB_SPECIAL(special_modified_bessel_i1, Eigen::numext::bessel_i1(x));
SB_SPECIAL(special_modified_bessel_k0, x < 0 ? kNaN : Eigen::numext::bessel_k0(x));
SB_SPECIAL(special_modified_bessel_k1, x < 0 ? kNaN : Eigen::numext::bessel_k1(x));
SB_SPECIAL(special_scaled_modified_bessel_k0, x < 0 ? kNaN : Eigen::numext::bessel_k0e(x));
SB_SPECIAL(special_scaled_modified_bessel_k1, x < 0 ? kNaN : Eigen::numext::bessel_k1e(x));
SB_SPECIAL_AS_IS(special_i0e, Eigen::numext::bessel_i0e(x));
SB_SPECIAL_AS_IS(special_i1, Eigen::numext::bessel_i1(x));
SB_SPECIAL_AS_IS(special_i1e, Eigen::numext::bessel_i1e(x));
SB_SPECIAL(special_ndtri, x >= 0 && !(x > 1) ? Eigen::numext::ndtri(x) : kNaN);
#undef SB_SPECIAL
#undef SB_SPECIAL_AS_IS

SB_ELEMENTWISE(igamma_arithmetic, "igamma", kBinaryFlags,
               element_loops<2>([](double a, double x) { return Eigen::numext::igamma(a, x); },
                                FloatTypes()));
SB_ELEMENTWISE(igammac_arithmetic, "igammac", kBinaryFlags,
               element_loops<2>([](double a, double x) { return Eigen::numext::igammac(a, x); },
                                FloatTypes()));
SB_ELEMENTWISE(special_zeta_arithmetic, "special_zeta", kFloatFlags,
               element_loops<2>([](double x, double q) { return zeta_of(x, q); }, FloatTypes()));
SB_ELEMENTWISE(polygamma_arithmetic, "polygamma", kFloatFlags,
               element_loops<1>([](const auto& n,
                                   auto x) { return polygamma_of(static_cast<double>(n[0]), x); },
                                FloatTypes()));

namespace {

Tensor polygamma_body(const Tensor& out, int64_t n, const Tensor& self) {
  SB_CHECK(n >= 0, "polygamma: argument n: expected 0 or more, got ", n);
  return regular<polygamma_arithmetic>(out, self, n);
}

Tensor mvlgamma_of(const Tensor& self, int64_t p) {
  check_defined("mvlgamma", self);
  SB_CHECK(self.dtype() != DType::Bool, "mvlgamma: argument self: expected numbers, got ",
           self.describe());
  SB_CHECK(p >= 1, "mvlgamma: argument p: expected 1 or more, got ", p);
  const double order = static_cast<double>(p);
  const DType dtype = is_floating_point(self.dtype()) ? self.dtype() : default_dtype();
  const Tensor steps = arange_start_step(-order / 2 + 0.5, 0.5, 0.5, dtype, std::nullopt,
                                         self.device(), std::nullopt);
  return add_Scalar(sum_dim(lgamma(add(unsqueeze(self, -1), steps)), {-1}),
                    order * (order - 1) / 4 * std::log(kPi));
}
Tensor mvlgamma_inplace(const Tensor& self, int64_t p) {
  const Tensor result = mvlgamma(self, p);
  SB_CHECK(can_cast(result.dtype(), self.dtype()), "mvlgamma_: the result is of ",
           to_string(result.dtype()), ", which self's ", to_string(self.dtype()), " cannot hold");
  return copy_(self, result);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, mvlgamma, Tag::derived_through)
      .composite_explicit(mvlgamma_of)
      .inplace(mvlgamma_, mvlgamma_inplace)
      .out(mvlgamma_out, kCastOut);
  define(m, lgamma, Tag::pointwise).elementwise<regular<lgamma_arithmetic>>().out_and_inplace();
  define(m, digamma, Tag::pointwise).elementwise<regular<digamma_arithmetic>>().out_and_inplace();
  define(m, erfinv, Tag::pointwise).elementwise<regular<erfinv_arithmetic>>().out_and_inplace();
  define(m, special_erfcx, Tag::pointwise)
      .elementwise<regular<special_erfcx_arithmetic>>()
      .out(special_erfcx_out);
  define(m, special_ndtr, Tag::pointwise)
      .elementwise<regular<special_ndtr_arithmetic>>()
      .out(special_ndtr_out);
  define(m, special_log_ndtr, Tag::pointwise)
      .elementwise<regular<special_log_ndtr_arithmetic>>()
      .out(special_log_ndtr_out);
  define(m, special_entr, Tag::pointwise)
      .elementwise<regular<special_entr_arithmetic>>()
      .out(special_entr_out);
  define(m, special_spherical_bessel_j0, Tag::pointwise)
      .elementwise<regular<special_spherical_bessel_j0_arithmetic>>()
      .out(special_spherical_bessel_j0_out);
  define(m, special_airy_ai, Tag::pointwise)
      .elementwise<regular<special_airy_ai_arithmetic>>()
      .out(special_airy_ai_out);
  define(m, i0, Tag::pointwise).elementwise<regular<i0_arithmetic>>().out_and_inplace();
  define(m, special_bessel_j0, Tag::pointwise)
      .elementwise<regular<special_bessel_j0_arithmetic>>()
      .out(special_bessel_j0_out);
  define(m, special_bessel_j1, Tag::pointwise)
      .elementwise<regular<special_bessel_j1_arithmetic>>()
      .out(special_bessel_j1_out);
  define(m, special_bessel_y0, Tag::pointwise)
      .elementwise<regular<special_bessel_y0_arithmetic>>()
      .out(special_bessel_y0_out);
  define(m, special_bessel_y1, Tag::pointwise)
      .elementwise<regular<special_bessel_y1_arithmetic>>()
      .out(special_bessel_y1_out);
  define(m, special_modified_bessel_i0, Tag::pointwise)
      .elementwise<regular<special_modified_bessel_i0_arithmetic>>()
      .out(special_modified_bessel_i0_out);
  define(m, special_modified_bessel_i1, Tag::pointwise)
      .elementwise<regular<special_modified_bessel_i1_arithmetic>>()
      .out(special_modified_bessel_i1_out);
  define(m, special_modified_bessel_k0, Tag::pointwise)
      .elementwise<regular<special_modified_bessel_k0_arithmetic>>()
      .out(special_modified_bessel_k0_out);
  define(m, special_modified_bessel_k1, Tag::pointwise)
      .elementwise<regular<special_modified_bessel_k1_arithmetic>>()
      .out(special_modified_bessel_k1_out);
  define(m, special_scaled_modified_bessel_k0, Tag::pointwise)
      .elementwise<regular<special_scaled_modified_bessel_k0_arithmetic>>()
      .out(special_scaled_modified_bessel_k0_out);
  define(m, special_scaled_modified_bessel_k1, Tag::pointwise)
      .elementwise<regular<special_scaled_modified_bessel_k1_arithmetic>>()
      .out(special_scaled_modified_bessel_k1_out);
  define(m, special_i0e, Tag::pointwise)
      .elementwise<regular<special_i0e_arithmetic>>()
      .out(special_i0e_out);
  define(m, special_i1, Tag::pointwise)
      .elementwise<regular<special_i1_arithmetic>>()
      .out(special_i1_out);
  define(m, special_i1e, Tag::pointwise)
      .elementwise<regular<special_i1e_arithmetic>>()
      .out(special_i1e_out);
  define(m, special_ndtri, Tag::pointwise)
      .elementwise<regular<special_ndtri_arithmetic>>()
      .out(special_ndtri_out);
  define(m, igamma, Tag::pointwise).elementwise<regular<igamma_arithmetic>>().out_and_inplace();
  define(m, igammac, Tag::pointwise).elementwise<regular<igammac_arithmetic>>().out_and_inplace();
  define(m, special_zeta, Tag::pointwise)
      .elementwise<regular<special_zeta_arithmetic>>()
      .out(special_zeta_out);
  define(m, polygamma, Tag::pointwise).elementwise<polygamma_body>().out(polygamma_out);
  define(m, polygamma_).composite_explicit([](const Tensor& self, int64_t n) {
    return polygamma_out(n, self, self);
  });
  define_number_forms(m, special_zeta_other_scalar, special_zeta);
  define_number_forms(m, special_zeta_self_scalar, special_zeta);
}

}  // namespace
}  // namespace sb
