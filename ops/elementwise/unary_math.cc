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

#define SB_REAL_FUNCTION(name) \
  SB_REGULAR(name, kFloatFlags, double_loops<1>([](const auto& x) { return vec::name(x); }))
#define SB_COMPLEX_FUNCTION(name) \
  SB_REGULAR(name, kFloatFlags, complex_loops([](const auto& x) { return vec::name(x); }))
SB_COMPLEX_FUNCTION(acos);
SB_COMPLEX_FUNCTION(asin);
SB_COMPLEX_FUNCTION(atan);
SB_COMPLEX_FUNCTION(tan);
SB_COMPLEX_FUNCTION(log10);
SB_REAL_FUNCTION(exp2);
SB_REAL_FUNCTION(expm1);
SB_REAL_FUNCTION(log1p);
SB_REAL_FUNCTION(erf);
SB_REAL_FUNCTION(erfc);
// PyTorch calls the standard library for these, so that this gives its results to the last bit.
#define SB_STANDARD_FUNCTION(name) \
  SB_REGULAR(                      \
      name, kFloatFlags,           \
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
constexpr LoopTable log2_loops() {
  LoopTable table = double_loops<1>([](const auto& x) { return vec::log2(x); });
  set_element_loops<1>(&table, ComplexTypes(), [](const auto& z) {
    using R = typename std::decay_t<decltype(z)>::value_type;
    return std::log(z) / std::numbers::ln2_v<R>;
  });
  return table;
}
}  // namespace
SB_REGULAR(log2, kFloatFlags, log2_loops());

// The product is rounded as it is in PyTorch: the sine of a multiple of pi shows it.
SB_REGULAR(sinc, kFloatFlags,
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

SB_LIBRARY_FRAGMENT(aten, m) { define_elementwise<logit_body>(m, logit); }

}  // namespace
#endif

}  // namespace sb
