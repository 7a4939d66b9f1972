#include <cmath>
#include <complex>
#include <numbers>

#include "switchboard/ops/cpu/vector_math.h"
#include "switchboard/ops/elementwise/double_loops.h"
#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/elementwise/unary_math.h"
#endif

namespace sb {

namespace {
template <class F>
constexpr LoopTable complex_loops(F f) {
  LoopTable table = double_loops<1>(f);
  set_loops<1>(&table, ComplexTypes(), f);
  return table;
}
}  // namespace

#define SB_REAL_FUNCTION(name)                          \
  SB_ELEMENTWISE(name##_arithmetic, #name, kFloatFlags, \
                 double_loops<1>([](const auto& x) { return vec::name(x); }))
#define SB_COMPLEX_FUNCTION(name)                       \
  SB_ELEMENTWISE(name##_arithmetic, #name, kFloatFlags, \
                 complex_loops([](const auto& x) { return vec::name(x); }))
SB_COMPLEX_FUNCTION(acos);
SB_COMPLEX_FUNCTION(asin);
SB_COMPLEX_FUNCTION(atan);
SB_COMPLEX_FUNCTION(tan);
SB_COMPLEX_FUNCTION(log10);
SB_REAL_FUNCTION(erf);
SB_REAL_FUNCTION(erfc);
// PyTorch calls the standard library for these, so that this gives its results to the last bit.
#define SB_STANDARD_FUNCTION(name)           \
  SB_ELEMENTWISE(                            \
      name##_arithmetic, #name, kFloatFlags, \
      element_loops<1>([](const auto& x) { return std::name(x); }, FloatTypes(), ComplexTypes()))
SB_STANDARD_FUNCTION(acosh);
SB_STANDARD_FUNCTION(asinh);
SB_STANDARD_FUNCTION(atanh);
SB_STANDARD_FUNCTION(cosh);
SB_STANDARD_FUNCTION(sinh);
#undef SB_REAL_FUNCTION
#undef SB_COMPLEX_FUNCTION
#undef SB_STANDARD_FUNCTION

namespace {
// With loops for complex numbers beside those of vec.
template <class Real, class Complex>
constexpr LoopTable with_complex(Real real, Complex complex) {
  LoopTable table = double_loops<1>(real);
  set_element_loops<1>(&table, ComplexTypes(), complex);
  return table;
}
constexpr LoopTable exp2_loops() {
  return with_complex([](const auto& x) { return vec::exp2(x); },
                      [](const auto& z) {
                        using R = typename std::decay_t<decltype(z)>::value_type;
                        return std::exp(z * std::numbers::ln2_v<R>);
                      });
}
// Right near 0 too, as PyTorch's.
constexpr LoopTable expm1_loops() {
  return with_complex([](const auto& x) { return vec::expm1(x); },
                      [](const auto& z) {
                        using C = std::decay_t<decltype(z)>;
                        const auto half = std::sin(z.imag() / 2);
                        return C(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
                                 std::exp(z.real()) * std::sin(z.imag()));
                      });
}
constexpr LoopTable log1p_loops() {
  return with_complex([](const auto& x) { return vec::log1p(x); },
                      [](const auto& z) {
                        using C = std::decay_t<decltype(z)>;
                        const auto x = z.real(), y = z.imag();
                        const auto angle = std::atan2(y, x + 1);
                        if (std::abs(z) >= 0.5f) return C(std::log(std::hypot(x + 1, y)), angle);
                        const auto square = x * (2 + x) + y * y;  // of the length, less 1
                        return C(square == 0 ? x : std::log1p(square) / 2, angle);
                      });
}
constexpr LoopTable log2_loops() {
  LoopTable table = double_loops<1>([](const auto& x) { return vec::log2(x); });
  set_element_loops<1>(&table, ComplexTypes(), [](const auto& z) {
    using R = typename std::decay_t<decltype(z)>::value_type;
    return std::log(z) / std::numbers::ln2_v<R>;
  });
  return table;
}
}  // namespace
SB_ELEMENTWISE(exp2_arithmetic, "exp2", kFloatFlags, exp2_loops());
SB_ELEMENTWISE(expm1_arithmetic, "expm1", kFloatFlags, expm1_loops());
SB_ELEMENTWISE(log1p_arithmetic, "log1p", kFloatFlags, log1p_loops());
SB_ELEMENTWISE(log2_arithmetic, "log2", kFloatFlags, log2_loops());

// The product is rounded as it is in PyTorch: the sine of a multiple of pi shows it.
SB_ELEMENTWISE(sinc_arithmetic, "sinc", kFloatFlags,
               element_loops<1>(
                   [](const auto& x) {
                     using T = std::decay_t<decltype(x)>;
                     const T product = T(std::numbers::pi) * x;
                     return x == T(0) ? T(1) : std::sin(product) / product;
                   },
                   FloatTypes(), ComplexTypes()));

SB_ELEMENTWISE(logit_arithmetic, "logit", kFloatFlags,
               double_loops<1>([](const auto& x) { return vec::log(x / (1 - x)); }));
SB_ELEMENTWISE(logit_eps_arithmetic, "logit", kFloatFlags,
               element_loops<1>(
                   [](const auto& n, auto x) {
                     const auto low = n[0], high = 1 - low;
                     x = x < low ? low : x > high ? high : x;
                     return std::log(x / (1 - x));
                   },
                   FloatTypes()));

#ifndef SB_CPU_VARIANT
namespace {

Tensor logit_body(const Tensor& out, const Tensor& self, std::optional<double> eps) {
  if (!eps || *eps < 0) return elementwise(logit_arithmetic, out, self);
  return regular<logit_eps_arithmetic>(out, self, *eps);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, acos, Tag::pointwise).elementwise<regular<acos_arithmetic>>().out_and_inplace();
  define(m, asin, Tag::pointwise).elementwise<regular<asin_arithmetic>>().out_and_inplace();
  define(m, atan, Tag::pointwise).elementwise<regular<atan_arithmetic>>().out_and_inplace();
  define(m, tan, Tag::pointwise).elementwise<regular<tan_arithmetic>>().out_and_inplace();
  define(m, log10, Tag::pointwise).elementwise<regular<log10_arithmetic>>().out_and_inplace();
  define(m, exp2, Tag::pointwise).elementwise<regular<exp2_arithmetic>>().out_and_inplace();
  define(m, expm1, Tag::pointwise).elementwise<regular<expm1_arithmetic>>().out_and_inplace();
  define(m, log1p, Tag::pointwise).elementwise<regular<log1p_arithmetic>>().out_and_inplace();
  define(m, erf, Tag::pointwise).elementwise<regular<erf_arithmetic>>().out_and_inplace();
  define(m, erfc, Tag::pointwise).elementwise<regular<erfc_arithmetic>>().out_and_inplace();
  define(m, acosh, Tag::pointwise).elementwise<regular<acosh_arithmetic>>().out_and_inplace();
  define(m, asinh, Tag::pointwise).elementwise<regular<asinh_arithmetic>>().out_and_inplace();
  define(m, atanh, Tag::pointwise).elementwise<regular<atanh_arithmetic>>().out_and_inplace();
  define(m, cosh, Tag::pointwise).elementwise<regular<cosh_arithmetic>>().out_and_inplace();
  define(m, sinh, Tag::pointwise).elementwise<regular<sinh_arithmetic>>().out_and_inplace();
  define(m, log2, Tag::pointwise).elementwise<regular<log2_arithmetic>>().out_and_inplace();
  define(m, sinc, Tag::pointwise).elementwise<regular<sinc_arithmetic>>().out_and_inplace();
  define(m, logit, Tag::pointwise).elementwise<logit_body>().out_and_inplace();
}

}  // namespace
#endif

}  // namespace sb
