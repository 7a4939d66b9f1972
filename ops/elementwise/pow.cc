#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "switchboard/ops/cpu/vector_math.h"
#include "switchboard/ops/elementwise/double_loops.h"
#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/elementwise/pow.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/outputs/copy_to_out.h"
#include "switchboard/ops/shape/resize.h"
#endif

namespace sb {

namespace {
// By squaring; products wrap.
struct IntegerPower {
  template <class T>
  T operator()(T base, T exponent) const {
    if (exponent < T(0)) {
      if (base == T(1)) return 1;
      if (base == static_cast<T>(-1)) return exponent % 2 == 0 ? T(1) : static_cast<T>(-1);
      return 0;
    }
    uint64_t result = 1, factor = static_cast<uint64_t>(base);
    for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, factor *= factor) {
      if (e & 1) result *= factor;
    }
    return static_cast<T>(result);
  }
};

struct ComplexPower {
  template <class T>
  T operator()(const T& base, const T& exponent) const {
    return std::pow(base, exponent);
  }
};

constexpr LoopTable pow_loops() {
  LoopTable table =
      element_loops<2>([](auto x, auto y) { return IntegerPower()(x, y); }, IntegerTypes());
  set_double_loops<2>(&table, [](const auto& x, const auto& y) { return vec::pow(x, y); });
  set_element_loops<2>(&table, ComplexTypes(), ComplexPower());
  return table;
}
}  // namespace
SB_ELEMENTWISE(pow_arithmetic, "pow", kBinaryFlags, pow_loops());

namespace {
// With one exponent for all elements. The usual ones are computed without a logarithm.
constexpr LoopTable pow_number_loops() {
  LoopTable table = element_loops<1>([](const auto& n, auto x) { return IntegerPower()(x, n[0]); },
                                     IntegerTypes());
  set_element_loops<1>(&table, FloatTypes(),
                       [](const auto& n, auto x) { return std::pow(x, n[0]); });
  set_element_loops<1>(&table, ComplexTypes(),
                       [](const auto& n, const auto& x) { return ComplexPower()(x, n[0]); });
  return table;
}

template <class F>
constexpr LoopTable float_power_loops(F f) {
  return element_loops<1>(f, FloatTypes(), ComplexTypes());
}

template <class F>
constexpr LoopTable float_or_bool_power_loops(F f) {
  return element_loops<1>(f, FloatTypes(), ComplexTypes(), BoolType());
}

template <class T>
T one_over(const T& x) {
  return T(1) / x;
}
}  // namespace
SB_ELEMENTWISE(pow_number_arithmetic, "pow", kSafeCastOutput, pow_number_loops());
SB_ELEMENTWISE(pow_0_arithmetic, "pow", kSafeCastOutput,
               float_or_bool_power_loops([](auto x) { return decltype(x)(1); }));
SB_ELEMENTWISE(pow_1_arithmetic, "pow", kSafeCastOutput, float_or_bool_power_loops(Identity()));
SB_ELEMENTWISE(pow_2_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return x * x; }));
SB_ELEMENTWISE(pow_3_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return x * x * x; }));
SB_ELEMENTWISE(pow_minus_1_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return one_over(x); }));
SB_ELEMENTWISE(pow_minus_2_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return one_over(x * x); }));
SB_ELEMENTWISE(pow_half_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return std::sqrt(x); }));
SB_ELEMENTWISE(pow_minus_half_arithmetic, "pow", kSafeCastOutput,
               float_power_loops([](const auto& x) { return one_over(std::sqrt(x)); }));

#ifndef SB_CPU_VARIANT
namespace {

const ElementwiseOp& arithmetic_for(const Scalar& exponent, DType dtype) {
  if (dtype == DType::Bool)  // which takes no other exponents than bools
    return exponent.to<bool>() ? pow_1_arithmetic : pow_0_arithmetic;
  if (is_integral(dtype) || exponent.is_complex() || exponent.is_symbolic())
    return pow_number_arithmetic;
  const double e = exponent.to<double>();
  return e == 0      ? pow_0_arithmetic
         : e == 1    ? pow_1_arithmetic
         : e == 2    ? pow_2_arithmetic
         : e == 3    ? pow_3_arithmetic
         : e == -1   ? pow_minus_1_arithmetic
         : e == -2   ? pow_minus_2_arithmetic
         : e == 0.5  ? pow_half_arithmetic
         : e == -0.5 ? pow_minus_half_arithmetic
                     : pow_number_arithmetic;
}

// Whether it is a whole number that float does not hold: it decides the sign of a power of a
// negative number, and one beyond float's range is a number all the same.
bool is_whole_beyond_float(const Scalar& exponent) {
  const double e = exponent.to<double>();
  if (!std::isfinite(e) || std::trunc(e) != e) return false;
  constexpr double max = std::numeric_limits<float>::max();
  return std::abs(e) > max || static_cast<double>(static_cast<float>(e)) != e;
}
// As PyTorch, which computes float32 with the exponent in float64.
Tensor pow_in_double(const Tensor& out, const Tensor& self, const Scalar& exponent, DType dtype) {
  const Tensor result =
      to_dtype(pow_Tensor_Scalar(to_dtype(self, DType::Float64), exponent), dtype);
  if (!out.defined()) return result;
  if (out.is_same(self)) return copy_(out, result);
  copy_result_to_out("pow", result, out);
  return out;
}

// Elements of 16 bits have exponents of 16 bits, as PyTorch's: whether they are odd hangs on it.
Scalar rounded_to(DType dtype, const Scalar& exponent) {
  if (exponent.is_symbolic() || exponent.is_complex()) return exponent;
  if (dtype == DType::BFloat16) return static_cast<double>(exponent.to<BFloat16>());
  if (dtype == DType::Float16) return static_cast<double>(exponent.to<Half>());
  return exponent;
}

Tensor pow_Tensor_Scalar_body(const Tensor& out, const Tensor& self, const Scalar& exponent) {
  const bool integers =
      is_integral(self.dtype(), true) && (exponent.is_int() || exponent.is_bool());
  SB_CHECK(!integers || exponent.is_symbolic() || exponent.to<int64_t>() >= 0,
           "pow: argument exponent: integers to negative integer powers are not allowed, got ",
           exponent.to_string());
  if (integers && exponent.is_symbolic())
    check(exponent.to_sym_int() >= 0, "pow: integers to negative integer powers are not allowed");
  const Tensor number = wrapped_scalar_tensor(exponent, self);
  const DType dtype = result_type({&self, &number});
  if (dtype == DType::Float32 && !exponent.is_symbolic() && is_whole_beyond_float(exponent))
    return pow_in_double(out, self, exponent, dtype);
  check_scalar_fits(exponent, dtype == DType::Float16 ? dtype : compute_dtype(dtype));
  const Numbers numbers{{rounded_to(dtype, exponent)}, 1};
  return elementwise(arithmetic_for(exponent, dtype), out,
                     self.dtype() == dtype ? self : to_dtype(self, dtype), &numbers);
}

// As PyTorch: the result is contiguous, and powers of 1 may go to an out of any dtype.
Tensor pow_Scalar_body(const Tensor& out, const Tensor& self_number, const Tensor& exponent) {
  Tensor result = out;
  if (!out.defined()) {
    const DType dtype = result_type({&self_number, &exponent});
    result = exponent.is_symbolic() ? empty_with_symbols(exponent.sym_sizes(), {}, dtype)
                                    : empty_on(exponent.device(), exponent.sizes(), dtype);
  }
  return elementwise(pow_arithmetic, result, self_number, exponent);
}
Tensor pow_Scalar_functional(const Scalar& self, const Tensor& exponent) {
  return pow_Scalar_body(Tensor(), wrapped_scalar_tensor(self, exponent), exponent);
}
Tensor pow_Scalar_out_form(const Scalar& self, const Tensor& exponent, const Tensor& out) {
  const bool is_one =
      self.is_complex() ? self.to<std::complex<double>>() == 1.0 : self.to<double>() == 1.0;
  if (!is_one) {
    const Tensor number = wrapped_scalar_tensor(self, exponent);
    if (any_symbolic(exponent, out)) {
      resize_symbolic_output(out, exponent.sym_sizes());
      return pow_Scalar_body(out, number, exponent);
    }
    if (!out.defined() || out.sizes() == exponent.sizes())
      return pow_Scalar_body(out, number, exponent);
    const Tensor result = empty_on(exponent.device(), exponent.sizes(), out.dtype());
    copy_result_to_out("pow", pow_Scalar_body(result, number, exponent), out);
    return out;
  }
  SB_CHECK_NOT_IMPLEMENTED(!self.is_bool() || exponent.dtype() != DType::Bool,
                           "pow: not implemented for bool");
  if (any_symbolic(exponent, out))
    resize_symbolic_output(out, exponent.sym_sizes());
  else
    resize_output(out, exponent.sizes());
  return fill_(out, 1);
}

bool is_complex_value(const Tensor& t) { return is_complex(t.dtype()); }
bool is_complex_value(const Scalar& s) { return s.is_complex(); }
template <class Base, class Exponent>
DType float_power_dtype(const Base& base, const Exponent& exponent) {
  return is_complex_value(base) || is_complex_value(exponent) ? DType::Complex128 : DType::Float64;
}
void check_float_power(const Tensor& target, DType dtype) {
  SB_CHECK(target.dtype() == dtype, "float_power: the result has dtype ", to_string(dtype),
           ", what it is to be written to has ", to_string(target.dtype()));
}
Tensor convert(const Tensor& t, DType dtype) { return to_dtype(t, dtype); }
Scalar convert(const Scalar& s, DType dtype) {
  if (dtype == DType::Complex128) return s.to<std::complex<double>>();
  return s.to_sym_float();
}

template <class Base, class Exponent>
struct FloatPower {
  template <auto& power>
  static Tensor functional(const Base& base, const Exponent& exponent) {
    const DType dtype = float_power_dtype(base, exponent);
    return power(convert(base, dtype), convert(exponent, dtype));
  }
  template <auto& power_out>
  static Tensor out(const Base& base, const Exponent& exponent, const Tensor& out) {
    const DType dtype = float_power_dtype(base, exponent);
    check_float_power(out, dtype);
    return power_out(convert(base, dtype), convert(exponent, dtype), out);
  }
  template <auto& power_>
  static Tensor inplace(const Base& self, const Exponent& exponent) {
    const DType dtype = float_power_dtype(self, exponent);
    check_float_power(self, dtype);
    return power_(self, convert(exponent, dtype));
  }
};

// In float64, whose powers of 2 go beyond the others' range: the product may be in it again.
Tensor ldexp_of(const Tensor& self, const Tensor& other) {
  DType dtype = result_type({&self, &other});
  if (is_integral(dtype, true)) dtype = default_dtype();
  const DType wide = is_complex(dtype) ? DType::Complex128 : DType::Float64;
  return to_dtype(mul(to_dtype(self, wide), pow_Scalar(2.0, to_dtype(other, wide))), dtype);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  using Tensors = FloatPower<Tensor, Tensor>;
  using ByNumber = FloatPower<Tensor, Scalar>;
  using OfNumber = FloatPower<Scalar, Tensor>;
  define(m, float_power)
      .composed(Tensors::functional<pow>)
      .inplace(float_power_, Tensors::inplace<pow_>)
      .out(float_power_out, Tensors::out<pow_out>);
  define(m, float_power_Tensor_Scalar)
      .composed(ByNumber::functional<pow_Tensor_Scalar>)
      .out(float_power_Tensor_Scalar_out, ByNumber::out<pow_Tensor_Scalar_out>);
  define(m, float_power__Scalar).composed(ByNumber::inplace<pow__Scalar>);
  define(m, float_power_Scalar)
      .composed(OfNumber::functional<pow_Scalar>)
      .out(float_power_Scalar_out, OfNumber::out<pow_Scalar_out>);
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, pow_Tensor_Scalar, Tag::pointwise)
      .elementwise<pow_Tensor_Scalar_body>()
      .out(pow_Tensor_Scalar_out);
  define(m, pow_);
  define(m, pow__Scalar);
  define(m, pow_Scalar);
  define(m, pow_Scalar_out);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    m.impl(pow_, key, [](const Tensor& self, const Tensor& exponent) {
      return elementwise(pow_arithmetic, self, self, exponent);
    });
    m.impl(pow__Scalar, key, [](const Tensor& self, const Scalar& exponent) {
      return pow_Tensor_Scalar_body(self, self, exponent);
    });
    m.impl(pow_Scalar, key, pow_Scalar_functional);
    m.impl(pow_Scalar_out, key, pow_Scalar_out_form);
  }

  define(m, square)
      .composed([](const Tensor& self) { return pow_Tensor_Scalar(self, 2); })
      .inplace(square_, [](const Tensor& self) { return pow__Scalar(self, 2); })
      .out(square_out, [](const Tensor& self, const Tensor& out) {
        return pow_Tensor_Scalar_out(self, 2, out);
      });

  define(m, ldexp)
      .composed(ldexp_of)
      .inplace(ldexp_,
               [](const Tensor& self, const Tensor& other) {
                 // Autograd would miss what is overwritten, if that is computed with as it is.
                 if (self.dtype() == DType::Float64 || self.dtype() == DType::Complex128) {
                   return mul_(self, pow_Scalar(2.0, to_dtype(other, self.dtype())));
                 }
                 const Tensor result = ldexp_of(self, other);
                 SB_CHECK(can_cast(result.dtype(), self.dtype()), "ldexp_: result type ",
                          to_string(result.dtype()), " can't be cast to the desired output type ",
                          to_string(self.dtype()));
                 return copy_(self, result);
               })
      .out(ldexp_out, [](const Tensor& self, const Tensor& other, const Tensor& out) {
        copy_result_to_out("ldexp", ldexp_of(self, other), out, kCastOut);
        return out;
      });
}

}  // namespace
#endif

#ifndef SB_CPU_VARIANT
SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, pow, Tag::pointwise).elementwise<regular<pow_arithmetic>>().out(pow_out);
}
#endif  // SB_CPU_VARIANT

}  // namespace sb
