#include "switchboard/ops/elementwise/predicates.h"

#include <cmath>
#include <complex>
#include <limits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/regular.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb {

namespace {
// A predicate of floats, for every dtype: of a complex number's parts, combined; of an integer,
// what it says of 0.
template <class Predicate, class Combine>
constexpr LoopTable predicate_loops(Predicate, Combine) {
  return element_loops<1, bool>(
      [](const auto& x) -> bool {
        using T = std::decay_t<decltype(x)>;
        if constexpr (internal::is_std_complex<T>) {
          return Combine()(Predicate()(x.real()), Predicate()(x.imag()));
        } else if constexpr (std::is_floating_point_v<T>) {
          return Predicate()(x);
        } else {
          return Predicate()(0.0f);
        }
      },
      IntegerTypes(), FloatTypes(), ComplexTypes(), BoolType());
}
}  // namespace
constexpr auto either = [](bool a, bool b) { return a || b; };
constexpr auto both = [](bool a, bool b) { return a && b; };

SB_ELEMENTWISE(isnan_arithmetic, "isnan", kBoolOutput,
               predicate_loops([](auto x) { return std::isnan(x); }, either));
SB_ELEMENTWISE(isinf_arithmetic, "isinf", kBoolOutput,
               predicate_loops([](auto x) { return std::isinf(x); }, either));
SB_ELEMENTWISE(isfinite_arithmetic, "isfinite", kBoolOutput,
               predicate_loops([](auto x) { return std::isfinite(x); }, both));
SB_ELEMENTWISE(isposinf_arithmetic, "isposinf", kBoolOutput,
               predicate_loops([](auto x) { return std::isinf(x) && x > 0; }, either));
SB_ELEMENTWISE(isneginf_arithmetic, "isneginf", kBoolOutput,
               predicate_loops([](auto x) { return std::isinf(x) && x < 0; }, either));

namespace {
constexpr LoopTable isreal_loops() {
  LoopTable table = element_loops<1, bool>([](const auto&) { return true; }, IntegerTypes(),
                                           FloatTypes(), BoolType());
  set_element_loops<1, bool>(&table, ComplexTypes(), [](const auto& z) { return z.imag() == 0; });
  return table;
}
}  // namespace
SB_ELEMENTWISE(isreal_arithmetic, "isreal", kBoolOutput, isreal_loops());

SB_ELEMENTWISE(nan_to_num_arithmetic, "nan_to_num", kUnaryFlags,
               element_loops<1>(
                   [](const auto& n, auto x) {
                     using T = decltype(x);
                     if constexpr (std::is_floating_point_v<T>) {
                       if (std::isnan(x)) return n[0];
                       if (std::isinf(x)) return x > 0 ? n[1] : n[2];
                     }
                     return x;
                   },
                   IntegerTypes(), FloatTypes(), BoolType()));

namespace {

// The largest number of a dtype.
double highest_of(DType dtype) {
  return visit_dtype(dtype, []<class T>() {
    if constexpr (internal::is_std_complex<T>) {
      return 0.0;
    } else {
      return static_cast<double>(Eigen::NumTraits<T>::highest());
    }
  });
}

Tensor nan_to_num_body(const Tensor& out, const Tensor& self, std::optional<double> nan,
                       std::optional<double> posinf, std::optional<double> neginf) {
  SB_CHECK(!out.defined() || out.dtype() == self.dtype(), "nan_to_num: argument out: expected ",
           to_string(self.dtype()), ", got ", to_string(out.dtype()));
  Numbers numbers;
  if (is_floating_point(self.dtype())) {
    const double highest = highest_of(self.dtype());
    numbers = {{nan.value_or(0), posinf.value_or(highest), neginf.value_or(-highest)}, 3};
  }
  // A new result has the strides of empty_like, which are self's where nothing overlaps.
  return elementwise(nan_to_num_arithmetic, out.defined() ? out : empty_like(self), self, &numbers);
}

Tensor isfinite_body(const Tensor& out, const Tensor& self) {
  check_defined("isfinite", self);
  // As PyTorch: ones_like of integers.
  const bool like_self = !out.defined() && is_integral(self.dtype(), true);
  return elementwise(isfinite_arithmetic, like_self ? empty_like(self, DType::Bool) : out, self);
}

Tensor isreal_body(const Tensor& out, const Tensor& self) {
  check_defined("isreal", self);
  // As PyTorch: ones_like where every number is real.
  const bool like_self = !out.defined() && !is_complex(self.dtype());
  return elementwise(isreal_arithmetic, like_self ? empty_like(self, DType::Bool) : out, self);
}

Tensor is_close(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  SB_CHECK(self.dtype() == other.dtype(), "isclose: argument other: expected ",
           to_string(self.dtype()), ", got ", to_string(other.dtype()));
  SB_CHECK(rtol >= 0, "isclose: argument rtol: expected 0 or more, got ", rtol);
  SB_CHECK(atol >= 0, "isclose: argument atol: expected 0 or more, got ", atol);
  const bool integers = is_integral(self.dtype(), true);
  const Tensor close = eq(self, other);
  // Written in place, as in PyTorch: the strides are those of eq, and self's NaN are not broadcast.
  if (equal_nan && !integers) bitwise_or_(close, bitwise_and_(isnan(self), isnan(other)));
  if (rtol == 0 && atol == 0) return close;
  const Tensor expected = integers ? to_dtype(other, default_dtype()) : other;
  const Tensor allowed = add_Scalar(abs(mul_Scalar(expected, rtol)), atol);
  const bool is_bool = self.dtype() == DType::Bool;
  const Tensor actual = abs(sub(is_bool ? to_dtype(self, default_dtype()) : self, expected));
  return bitwise_or_(close, bitwise_and_(isfinite(actual), le(actual, allowed)));
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, isnan, Tag::pointwise)
      .elementwise<regular<isnan_arithmetic, BoolOut<isnan_arithmetic>>>()
      .out(isnan_out);
  define(m, isinf, Tag::pointwise)
      .elementwise<regular<isinf_arithmetic, BoolOut<isinf_arithmetic>>>()
      .out(isinf_out);
  define(m, isposinf, Tag::pointwise)
      .elementwise<regular<isposinf_arithmetic, RealToBoolOut<isposinf_arithmetic>>>()
      .out(isposinf_out);
  define(m, isneginf, Tag::pointwise)
      .elementwise<regular<isneginf_arithmetic, RealToBoolOut<isneginf_arithmetic>>>()
      .out(isneginf_out);
  define(m, nan_to_num, Tag::pointwise).elementwise<nan_to_num_body>().out_and_inplace();
  define(m, isfinite, Tag::pointwise).elementwise<isfinite_body>();
  define(m, isreal, Tag::pointwise).elementwise<isreal_body>();

  define(m, isclose).composed(is_close);
  define(m, allclose, Tag::data_dependent_output)
      .composite_explicit(
          [](const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
            return item(all_all(isclose(self, other, rtol, atol, equal_nan))).to<bool>();
          });
}

}  // namespace
}  // namespace sb
