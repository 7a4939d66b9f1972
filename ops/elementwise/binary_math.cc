#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/cpu/vector_math.h"
#include "switchboard/ops/elementwise/double_loops.h"
#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/number_forms.h"
#include "switchboard/ops/shape/dims.h"
#endif

namespace sb {

SB_ELEMENTWISE(atan2_arithmetic, "atan2", kFloatFlags,
               double_loops<2>([](const auto& y, const auto& x) { return vec::atan2(y, x); }));
SB_ELEMENTWISE(hypot_arithmetic, "hypot", kBinaryFlags,
               double_loops<2>([](const auto& x, const auto& y) { return vec::hypot(x, y); }));
SB_ELEMENTWISE(copysign_arithmetic, "copysign", kFloatFlags,
               element_loops<2>([](auto x, auto y) { return std::copysign(x, y); }, FloatTypes()));

namespace {
template <class F>
constexpr LoopTable x_times_loops(F) {
  return element_loops<2>(
      [](auto x, auto y) {
        if (y != y) return y;
        return x == 0 ? decltype(x)(0) : x * F()(y);
      },
      FloatTypes());
}
}  // namespace
SB_ELEMENTWISE(xlogy_arithmetic, "xlogy", kFloatFlags,
               x_times_loops([](auto y) { return std::log(y); }));
SB_ELEMENTWISE(special_xlog1py_arithmetic, "special_xlog1py", kFloatFlags,
               x_times_loops([](auto y) { return std::log1p(y); }));

// Equal infinities have no difference.
SB_ELEMENTWISE(logaddexp_arithmetic, "logaddexp", kBinaryFlags,
               element_loops<2>(
                   [](auto x, auto y) {
                     if (std::isinf(x) && x == y) return x;
                     return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
                   },
                   FloatTypes()));
SB_ELEMENTWISE(logaddexp2_arithmetic, "logaddexp2", kBinaryFlags,
               element_loops<2>(
                   [](auto x, auto y) {
                     using T = decltype(x);
                     if (std::isinf(x) && x == y) return x;
                     return std::max(x, y) +
                            std::log1p(std::exp2(-std::abs(x - y))) * std::numbers::log2e_v<T>;
                   },
                   FloatTypes()));

SB_ELEMENTWISE(nextafter_arithmetic, "nextafter", kBinaryFlags,
               element_loops<2>([](auto x, auto y) { return std::nextafter(x, y); }, FloatTypes()));
// Of bfloat16 numbers, which are computed as float: the upper half of its bits.
SB_ELEMENTWISE(nextafter_bfloat16_arithmetic, "nextafter", kBinaryFlags,
               element_loops<2>(
                   [](float x, float y) {
                     constexpr uint32_t unit = 0x10000, sign = 0x80000000;
                     if (x != x || y != y) return x + y;
                     if (x == y) return y;
                     if (x == 0) return std::bit_cast<float>(unit | (y < 0 ? sign : 0));
                     const auto bits = std::bit_cast<uint32_t>(x);
                     return std::bit_cast<float>((x < y) == (x > 0) ? bits + unit : bits - unit);
                   },
                   TypeList<float>()));
// The same of float16 numbers, whose smallest ones are 2^-24 apart.
SB_ELEMENTWISE(nextafter_float16_arithmetic, "nextafter", kBinaryFlags,
               element_loops<2>(
                   [](float x, float y) {
                     constexpr uint32_t unit = 0x2000;
                     constexpr float smallest = 0x1p-24f, normal = 0x1p-14f, largest = 65504;
                     if (x != x || y != y) return x + y;
                     if (x == y) return y;
                     if (x == 0) return std::copysign(smallest, y);
                     if (std::isinf(x)) return std::copysign(largest, x);
                     const bool grows = (x < y) == (x > 0);
                     const float size = std::abs(x);
                     if (size < normal || (size == normal && !grows))
                       return x < y ? x + smallest : x - smallest;
                     const auto bits = std::bit_cast<uint32_t>(x);
                     return std::bit_cast<float>(grows ? bits + unit : bits - unit);
                   },
                   TypeList<float>()));

namespace {
// No integer is divided by 0; the lowest one divided by -1 leaves 0.
struct Fmod {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(x, y);
    } else {
      if (std::is_signed_v<T> && y == static_cast<T>(-1)) return 0;
      return static_cast<T>(x % y);
    }
  }
};

struct Remainder {
  template <class T>
  T operator()(T x, T y) const {
    const T rest = Fmod()(x, y);
    return rest != 0 && (rest < T(0)) != (y < T(0)) ? static_cast<T>(rest + y) : rest;
  }
};

#ifndef SB_CPU_VARIANT
template <const ElementwiseOp& arithmetic>
struct NoZeroDivisor {
  void operator()(const Tensor&, const Tensor& self, const Tensor& other) const {
    check_divisor(arithmetic.name, self, other);
  }
};
#endif
}  // namespace
SB_ELEMENTWISE(fmod_arithmetic, "fmod", kBinaryFlags,
               element_loops<2>(Fmod(), IntegerTypes(), FloatTypes()));
SB_ELEMENTWISE(remainder_arithmetic, "remainder", kBinaryFlags,
               element_loops<2>(Remainder(), IntegerTypes(), FloatTypes()));

namespace {
struct NoComplexPair {
  void operator()(const Tensor& out, const Tensor& self, const Tensor& other) const;
};
}  // namespace
SB_ELEMENTWISE(fmax_arithmetic, "fmax", kBinaryFlags,
               element_loops<2>([](auto x, auto y) { return y != y || x > y ? x : y; },
                                IntegerTypes(), FloatTypes(), BoolType()));
SB_ELEMENTWISE(fmin_arithmetic, "fmin", kBinaryFlags,
               element_loops<2>([](auto x, auto y) { return y != y || x < y ? x : y; },
                                IntegerTypes(), FloatTypes(), BoolType()));

namespace {
struct OneRealType {
  void operator()(const Tensor& out, const Tensor& self, const Tensor& values) const;
};
}  // namespace
SB_ELEMENTWISE(heaviside_arithmetic, "heaviside", kBinaryFlags,
               element_loops<2>(
                   [](auto x, auto value) {
                     using T = decltype(x);
                     return x == T(0) ? value : static_cast<T>(x > T(0));
                   },
                   IntegerTypes(), FloatTypes(), BoolType()));

#ifndef SB_CPU_VARIANT

void NoComplexPair::operator()(const Tensor&, const Tensor& self, const Tensor& other) const {
  SB_CHECK(!is_complex(self.dtype()) && !is_complex(other.dtype()),
           "fmax and fmin: complex tensors are not supported");
}
void OneRealType::operator()(const Tensor& out, const Tensor& self, const Tensor& values) const {
  SB_CHECK(!is_complex(self.dtype()) && !is_complex(values.dtype()) &&
               (!out.defined() || !is_complex(out.dtype())),
           "heaviside: complex tensors are not supported");
  SB_CHECK(self.dtype() == values.dtype() && (!out.defined() || out.dtype() == self.dtype()),
           "heaviside: expected tensors of one dtype, got ", to_string(self.dtype()), " and ",
           to_string(values.dtype()), out.defined() ? " for out of " : "",
           out.defined() ? to_string(out.dtype()) : "");
}

namespace {

Tensor nextafter_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  check_defined("nextafter", self);
  check_defined("nextafter", other);
  const DType common = result_type({&self, &other});
  return elementwise(common == DType::BFloat16  ? nextafter_bfloat16_arithmetic
                     : common == DType::Float16 ? nextafter_float16_arithmetic
                                                : nextafter_arithmetic,
                     out, self, other);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  take_numbers_for_tensors({"aten::floor_divide", "aten::floor_divide_"});
  define(m, atan2, Tag::pointwise).elementwise<regular<atan2_arithmetic>>().out_and_inplace();
  define(m, hypot, Tag::pointwise).elementwise<regular<hypot_arithmetic>>().out_and_inplace();
  define(m, copysign, Tag::pointwise)
      .elementwise<regular<copysign_arithmetic>>()
      .inplace(copysign_)
      .out(copysign_out);
  define(m, xlogy, Tag::pointwise).elementwise<regular<xlogy_arithmetic>>().out_and_inplace();
  define(m, special_xlog1py, Tag::pointwise)
      .elementwise<regular<special_xlog1py_arithmetic>>()
      .out(special_xlog1py_out);
  define(m, logaddexp, Tag::pointwise)
      .elementwise<regular<logaddexp_arithmetic>>()
      .out(logaddexp_out);
  define(m, logaddexp2, Tag::pointwise)
      .elementwise<regular<logaddexp2_arithmetic>>()
      .out(logaddexp2_out);
  define(m, fmod, Tag::pointwise)
      .elementwise<regular<fmod_arithmetic, NoZeroDivisor<fmod_arithmetic>>>()
      .inplace(fmod_)
      .out(fmod_out);
  define(m, remainder, Tag::pointwise)
      .elementwise<regular<remainder_arithmetic, NoZeroDivisor<remainder_arithmetic>>>()
      .inplace(remainder_)
      .out(remainder_out);
  define(m, fmax, Tag::pointwise)
      .elementwise<regular<fmax_arithmetic, NoComplexPair>>()
      .out(fmax_out);
  define(m, fmin, Tag::pointwise)
      .elementwise<regular<fmin_arithmetic, NoComplexPair>>()
      .out(fmin_out);
  define(m, heaviside, Tag::pointwise)
      .elementwise<regular<heaviside_arithmetic, OneRealType>>()
      .inplace(heaviside_)
      .out(heaviside_out);
  define(m, nextafter, Tag::pointwise).elementwise<nextafter_body>().out_and_inplace();
  constexpr DispatchKey implicit = DispatchKey::CompositeImplicitAutograd;
  define_number_forms(m, copysign_Scalar, copysign);
  define_number_forms(m, xlogy_Scalar_Other, xlogy);
  define_number_forms(m, xlogy_Scalar_Self, xlogy);
  define_number_forms(m, special_xlog1py_other_scalar, special_xlog1py);
  define_number_forms(m, special_xlog1py_self_scalar, special_xlog1py);
  define_number_forms(m, fmod_Scalar, fmod);
  define_number_forms(m, remainder_Scalar, remainder);
  define_number_forms(m, remainder_Scalar_Tensor, remainder);
  extend(m, remainder_Scalar_Tensor).out("Scalar_Tensor_out");

  define(m, floor_divide, Tag::derived_through)
      .composite_explicit([](const Tensor& self, const Tensor& other) {
        return div_Tensor_mode(self, other, "floor");
      })
      .inplace(floor_divide_,
               [](const Tensor& self, const Tensor& other) {
                 return div_Tensor_mode_(self, other, "floor");
               })
      .out(floor_divide_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        return div_Tensor_mode_out(self, other, "floor", out);
      });
  define_number_forms(m, floor_divide_Scalar, floor_divide, {implicit});
  extend(m, floor_divide_Scalar).out("Scalar_out");
  define_number_forms(m, floor_divide__Scalar, floor_divide_, {implicit});
}

}  // namespace
#endif

}  // namespace sb
