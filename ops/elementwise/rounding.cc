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
#define SB_ROUNDING(name, function)                                     \
  SB_ELEMENTWISE(name##_arithmetic, #name, kUnaryFlags,                 \
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

SB_ELEMENTWISE(frac_arithmetic, "frac", kUnaryFlags,
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
SB_ELEMENTWISE(sign_arithmetic, "sign", kUnaryFlags,
               element_loops<1>(Sign(), IntegerTypes(), FloatTypes(), BoolType()));
SB_ELEMENTWISE(sgn_arithmetic, "sgn", kUnaryFlags,
               element_loops<1>(Sign(), IntegerTypes(), FloatTypes(), BoolType(), ComplexTypes()));

namespace {
constexpr LoopTable signbit_loops() {
  LoopTable table =
      element_loops<1, bool>([](auto x) { return x < decltype(x)(0); }, IntegerTypes(), BoolType());
  set_element_loops<1, bool>(&table, FloatTypes(), [](auto x) { return std::signbit(x); });
  return table;
}
}  // namespace
SB_ELEMENTWISE(signbit_arithmetic, "signbit", kBoolOutput, signbit_loops());

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

namespace {
// Refuses complex tensors, as an operator that is not for them.
struct NoSignOfComplex {
  void operator()(const Tensor&, const Tensor& self) const {
    SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()),
                             "sign: argument self: complex tensors are not supported, got ",
                             to_string(self.dtype()), "; see sgn");
  }
};
}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, ceil, Tag::pointwise)
      .elementwise<regular<ceil_arithmetic, NotComplex<ceil_arithmetic>>>()
      .inplace(ceil_)
      .out(ceil_out);
  define(m, floor, Tag::pointwise)
      .elementwise<regular<floor_arithmetic, NotComplex<floor_arithmetic>>>()
      .inplace(floor_)
      .out(floor_out);
  define(m, round, Tag::pointwise)
      .elementwise<regular<round_arithmetic>>()
      .inplace(round_)
      .out(round_out);
  define(m, trunc, Tag::pointwise)
      .elementwise<regular<trunc_arithmetic, NotComplex<trunc_arithmetic>>>()
      .inplace(trunc_)
      .out(trunc_out);
  define(m, frac, Tag::pointwise).elementwise<regular<frac_arithmetic>>().out_and_inplace();
  define(m, sign, Tag::pointwise)
      .elementwise<regular<sign_arithmetic, NoSignOfComplex>>()
      .inplace(sign_)
      .out(sign_out);
  define(m, sgn, Tag::pointwise).elementwise<regular<sgn_arithmetic>>().out_and_inplace();
  define(m, signbit, Tag::pointwise)
      .elementwise<regular<signbit_arithmetic, RealToBoolOut<signbit_arithmetic>>>()
      .out(signbit_out);
  define(m, round_decimals, Tag::pointwise)
      .elementwise<round_decimals_body>()
      .inplace(round_decimals_)
      .out(round_decimals_out);
  define(m, deg2rad, Tag::pointwise)
      .elementwise<converted_angle_body<deg2rad_arithmetic>>()
      .inplace(deg2rad_)
      .out(deg2rad_out);
  define(m, rad2deg, Tag::pointwise)
      .elementwise<converted_angle_body<rad2deg_arithmetic>>()
      .inplace(rad2deg_)
      .out(rad2deg_out);
}

}  // namespace
#endif

}  // namespace sb
