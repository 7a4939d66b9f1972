#include <cmath>
#include <complex>
#include <numbers>

#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/shape/dims.h"
#endif

namespace sb {

// Integers are round already.
#define SB_ROUNDING(name, function)                                         \
  SB_REGULAR_CHECKED(name, NotComplex<name##_arithmetic>, kUnaryFlags,      \
                     element_loops<1>(                                      \
                         [](auto x) {                                       \
                           if constexpr (std::is_integral_v<decltype(x)>) { \
                             return x;                                      \
                           } else {                                         \
                             return std::function(x);                       \
                           }                                                \
                         },                                                 \
                         IntegerTypes(), FloatTypes()))
SB_ROUNDING(ceil, ceil);
SB_ROUNDING(floor, floor);
SB_ROUNDING(round, nearbyint);
SB_ROUNDING(trunc, trunc);
#undef SB_ROUNDING

SB_REGULAR(frac, kUnaryFlags,
           element_loops<1>([](auto x) { return x - std::trunc(x); }, FloatTypes()));

// Numbers: the power of ten to multiply by, or to divide by.
SB_ELEMENTWISE(round_up_arithmetic, "round", kUnaryFlags,
               element_loops<1>([](const auto& n,
                                   auto x) { return std::nearbyint(x * n[0]) / n[0]; },
                                FloatTypes()));
SB_ELEMENTWISE(round_down_arithmetic, "round", kUnaryFlags,
               element_loops<1>([](const auto& n,
                                   auto x) { return std::nearbyint(x / n[0]) * n[0]; },
                                FloatTypes()));

namespace {
struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (internal::is_std_complex<T>) {
      const auto magnitude = std::abs(x);
      return magnitude == 0 ? T(0) : x / magnitude;
    } else {
      return static_cast<T>((T(0) < x) - (x < T(0)));
    }
  }
};
}  // namespace
SB_REGULAR_CHECKED(sign, NotComplex<sign_arithmetic>, kUnaryFlags,
                   element_loops<1>(Sign(), IntegerTypes(), FloatTypes(), BoolType()));
SB_REGULAR(sgn, kUnaryFlags,
           element_loops<1>(Sign(), IntegerTypes(), FloatTypes(), BoolType(), ComplexTypes()));

namespace {
constexpr LoopTable signbit_loops() {
  LoopTable table =
      element_loops<1, bool>([](auto x) { return x < decltype(x)(0); }, IntegerTypes(), BoolType());
  set_element_loops<1, bool>(&table, FloatTypes(), [](auto x) { return std::signbit(x); });
  return table;
}
}  // namespace
SB_REGULAR_CHECKED(signbit, BoolOutOnly<signbit_arithmetic>, kBoolOutput, signbit_loops());

SB_ELEMENTWISE(deg2rad_arithmetic, "deg2rad", kFloatFlags,
               array_loops<1>(
                   [](const auto& x) {
                     using T = element_of<decltype(x)>;
                     return x * (std::numbers::pi_v<T> / 180);
                   },
                   FloatTypes()));
SB_ELEMENTWISE(rad2deg_arithmetic, "rad2deg", kFloatFlags,
               array_loops<1>(
                   [](const auto& x) {
                     using T = element_of<decltype(x)>;
                     return x * (180 / std::numbers::pi_v<T>);
                   },
                   FloatTypes()));

#ifndef SB_CPU_VARIANT
namespace {

Tensor round_decimals_body(const Tensor& out, const Tensor& self, int64_t decimals) {
  const Numbers power{{std::pow(10.0, std::abs(static_cast<double>(decimals)))}, 1};
  return elementwise(decimals < 0 ? round_down_arithmetic : round_up_arithmetic, out, self, &power);
}

template <const ElementwiseOp& arithmetic>
Tensor converted_angle_body(const Tensor& out, const Tensor& self) {
  check_defined("deg2rad or rad2deg", self);
  NotComplex<arithmetic>()(out, self);
  const DType dtype = is_floating_point(self.dtype()) ? self.dtype() : default_dtype();
  // A new result has the strides of empty_like.
  return elementwise(arithmetic, out.defined() ? out : empty_like(self, dtype), self);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define_elementwise<round_decimals_body>(m, round_decimals);
  define_elementwise<converted_angle_body<deg2rad_arithmetic>>(m, deg2rad);
  define_elementwise<converted_angle_body<rad2deg_arithmetic>>(m, rad2deg);
}

}  // namespace
#endif

}  // namespace sb
