#include <algorithm>
#include <atomic>
#include <cmath>

#include "switchboard/ops/cpu/array_loops.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/values/tensor_conversions.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/resize.h"
#include "switchboard/ops/shape/symbolic_operands.h"
#endif

namespace sb {
namespace {

// Complex arithmetic as PyTorch does it. The standard library's looks for infinities that NaNs
// hide, and Eigen's does so or not depending on alignment.
template <class T>
std::complex<T> multiply(const std::complex<T>& x, const std::complex<T>& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
template <class T>
std::complex<T> divide(const std::complex<T>& x, const std::complex<T>& y) {
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (std::abs(c) >= std::abs(d)) {
    if (c == 0 && d == 0) return {a / std::abs(c), b / std::abs(d)};
    const T ratio = d / c, scale = T(1) / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  const T ratio = c / d, scale = T(1) / (c * ratio + d);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}

constexpr LoopTable add_loops() {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) { return a + b; };
  set_wrapping_loops<2>(&table, IntegerTypes(), f);
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, ComplexTypes(), f);
  set_loops<2>(&table, BoolType(), [](const auto& a, const auto& b) { return a || b; });
  return table;
}
constexpr LoopTable sub_loops() {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) { return a - b; };
  set_wrapping_loops<2>(&table, IntegerTypes(), f);
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, ComplexTypes(), f);
  return table;
}
// self + alpha * other; sub passes -alpha.
constexpr LoopTable add_scaled_loops() {
  LoopTable table{};
  const auto f = [](const void* alpha, const auto& a, const auto& b) {
    return a + scalar_param<element_of<decltype(a)>>(alpha) * b;
  };
  // 16-bit unsigned integers multiply as int, which 65535 * 65535 overflows.
  set_wrapping_loops<2>(&table, TypeList<uint8_t, int8_t, int32_t, int64_t>(), f);
  set_loops<2>(&table, TypeList<int16_t>(), [](const void* alpha, const auto& a, const auto& b) {
    return a.binaryExpr(b, [alpha = scalar_param<int16_t>(alpha)](int16_t x, int16_t y) {
      return static_cast<int16_t>(x + alpha * y);
    });
  });
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, ComplexTypes(), [](const void* alpha, const auto& a, const auto& b) {
    using T = element_of<decltype(a)>;
    return a.binaryExpr(b, [alpha = scalar_param<T>(alpha)](const T& x, const T& y) {
      return x + multiply(alpha, y);
    });
  });
  set_loops<2>(&table, BoolType(), [](const void* alpha, const auto& a, const auto& b) {
    using Array = internal::EigenArray<bool>;
    return a || (b && Array::Constant(b.size(), scalar_param<bool>(alpha)));
  });
  return table;
}
constexpr LoopTable mul_loops() {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) { return a * b; };
  // int16 as in kAddScaledLoops.
  set_wrapping_loops<2>(&table, TypeList<uint8_t, int8_t, int32_t, int64_t>(), f);
  set_loops<2>(&table, TypeList<int16_t>(), [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](int16_t x, int16_t y) { return static_cast<int16_t>(x * y); });
  });
  set_loops<2>(&table, FloatTypes(), f);
  set_loops<2>(&table, ComplexTypes(), [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](const auto& x, const auto& y) { return multiply(x, y); });
  });
  set_loops<2>(&table, BoolType(), [](const auto& a, const auto& b) { return a && b; });
  return table;
}
constexpr LoopTable div_loops() {
  LoopTable table{};
  set_loops<2>(&table, FloatTypes(), [](const auto& a, const auto& b) { return a / b; });
  set_loops<2>(&table, ComplexTypes(), [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](const auto& x, const auto& y) { return divide(x, y); });
  });
  return table;
}

// No divisor is 0. The lowest integer divided by -1 wraps.
template <class T>
T divide_trunc(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T divide_floor(T a, T b) {
  const T quotient = divide_trunc(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (b != T(-1) && a % b != 0 && (a < 0) != (b < 0)) return static_cast<T>(quotient - 1);
  }
  return quotient;
}
// As PyTorch's div_floor_floating, which is Python's `//`.
template <std::floating_point T>
T divide_floor(T a, T b) {
  if (b == 0) return a / b;
  const T mod = std::fmod(a, b);
  T quotient = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  T floored = std::floor(quotient);
  if (quotient - floored > T(0.5)) floored += 1;
  return floored;
}

constexpr LoopTable div_trunc_loops() {
  LoopTable table{};
  set_loops<2>(&table, IntegerTypes(), [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](auto x, auto y) { return divide_trunc(x, y); });
  });
  set_loops<2>(&table, FloatTypes(), [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](auto x, auto y) { return std::trunc(x / y); });
  });
  return table;
}
constexpr LoopTable div_floor_loops() {
  LoopTable table{};
  const auto f = [](const auto& a, const auto& b) {
    return a.binaryExpr(b, [](auto x, auto y) { return divide_floor(x, y); });
  };
  set_loops<2>(&table, IntegerTypes(), f);
  set_loops<2>(&table, FloatTypes(), f);
  return table;
}
// Finds a zero divisor before anything is written.
constexpr LoopTable find_zero_loops() {
  LoopTable table{};
  set_loops<1>(&table, IntegerTypes(), [](const void* found, const auto& a) {
    if ((a == 0).any()) {
      // Several threads may find one.
      std::atomic_ref(*static_cast<bool*>(const_cast<void*>(found)))
          .store(true, std::memory_order_relaxed);
    }
    return a;
  });
  return table;
}

constexpr LoopTable neg_loops() {
  LoopTable table{};
  set_wrapping_loops<1>(&table, IntegerTypes(), [](const auto& a) {
    using T = element_of<decltype(a)>;
    return a.unaryExpr([](T x) { return static_cast<T>(T(0) - x); });
  });
  // Not -a, which for vectors of Eigen's is 0 - a: 0 has a negative.
  set_loops<1>(&table, FloatTypes(), [](const auto& a) { return a * element_of<decltype(a)>(-1); });
  set_loops<1>(&table, ComplexTypes(),
               [](const auto& a) { return a.unaryExpr([](const auto& z) { return -z; }); });
  return table;
}
constexpr LoopTable abs_loops() {
  LoopTable table{};
  set_loops<1>(&table, SignedTypes(), [](const auto& a) {
    using T = element_of<decltype(a)>;
    using U = std::make_unsigned_t<T>;
    return a.unaryExpr([](T x) { return x < 0 ? static_cast<T>(U(0) - static_cast<U>(x)) : x; });
  });
  set_loops<1>(&table, TypeList<uint8_t>(), [](const auto& a) { return a; });
  set_loops<1>(&table, FloatTypes(), [](const auto& a) { return a.abs(); });
  const auto magnitude = [](const auto& a) {
    return a.unaryExpr([](const auto& z) { return std::hypot(z.real(), z.imag()); });
  };
  set_loops<1, float>(&table, TypeList<std::complex<float>>(), magnitude);
  set_loops<1, double>(&table, TypeList<std::complex<double>>(), magnitude);
  return table;
}

}  // namespace

SB_ELEMENTWISE(add_arithmetic, "add", kBinaryFlags, add_loops());
SB_ELEMENTWISE(add_scaled_arithmetic, "add", kBinaryFlags, add_scaled_loops());
SB_ELEMENTWISE(sub_arithmetic, "sub", kBinaryFlags, sub_loops());
SB_ELEMENTWISE(sub_scaled_arithmetic, "sub", kBinaryFlags, add_scaled_loops());
SB_ELEMENTWISE(mul_arithmetic, "mul", kBinaryFlags, mul_loops());
SB_ELEMENTWISE(div_arithmetic, "div", kFloatFlags, div_loops());
SB_ELEMENTWISE(div_trunc_arithmetic, "div with rounding_mode='trunc'", kBinaryFlags,
               div_trunc_loops());
SB_ELEMENTWISE(div_floor_arithmetic, "div with rounding_mode='floor'", kBinaryFlags,
               div_floor_loops());
SB_ELEMENTWISE(find_zero_arithmetic, "div", kPromoteInputs, find_zero_loops());
SB_ELEMENTWISE(neg_arithmetic, "neg", kUnaryFlags, neg_loops());
SB_ELEMENTWISE(abs_arithmetic, "abs", kUnaryFlags, abs_loops());

#ifndef SB_CPU_VARIANT
namespace {

// As at::native::alpha_check.
void check_alpha(std::string_view op, const Tensor& self, const Tensor& other,
                 const Scalar& alpha) {
  const DType dtype = result_type({&self, &other});
  SB_CHECK(!alpha.is_bool() || dtype == DType::Bool, op,
           ": argument alpha: a boolean is only supported for boolean results, got ",
           to_string(dtype), " ones");
  SB_CHECK(is_floating_point(dtype) || is_complex(dtype) || alpha.is_int() || alpha.is_bool(), op,
           ": argument alpha must be an integer for integral input tensors, got ",
           alpha.to_string());
  SB_CHECK(is_complex(dtype) || !alpha.is_complex(), op,
           ": argument alpha must not be complex for non-complex input tensors, got ",
           alpha.to_string());
  check_scalar_fits(alpha, compute_dtype(dtype));
}

// Apart, so that the usual calls need no stack for it.
[[gnu::noinline]] Tensor add_scaled(const Tensor& out, const Tensor& self, const Tensor& other,
                                    const Scalar& alpha) {
  check_alpha("add", self, other, alpha);
  return elementwise(add_scaled_arithmetic, out, self, other, &alpha);
}
[[gnu::noinline]] Tensor sub_scaled(const Tensor& out, const Tensor& self, const Tensor& other,
                                    const Scalar& alpha) {
  check_alpha("sub", self, other, alpha);
  const Scalar negative = -alpha;
  return elementwise(sub_scaled_arithmetic, out, self, other, &negative);
}

Tensor add_body(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!alpha.is(1)) return add_scaled(out, self, other, alpha);
  return elementwise(add_arithmetic, out, self, other);
}

Tensor sub_body(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  SB_CHECK_NOT_IMPLEMENTED(
      self.dtype() != DType::Bool && other.dtype() != DType::Bool,
      "sub: subtraction with a bool tensor is not supported; use logical_xor or logical_not");
  if (!alpha.is(1)) return sub_scaled(out, self, other, alpha);
  return elementwise(sub_arithmetic, out, self, other);
}

Tensor mul_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  return elementwise(mul_arithmetic, out, self, other);
}

Tensor div_body(const Tensor& out, const Tensor& self, const Tensor& other) {
  return elementwise(div_arithmetic, out, self, other);
}

}  // namespace

void check_divisor(std::string_view op, const Tensor& self, const Tensor& other) {
  if (!self.is_cpu() || !other.is_cpu() || self.numel() == 0 || other.numel() == 0) return;
  const DType common = result_type({&self, &other});
  if (!is_integral(common)) return;
  // The divisor is what the conversion to the common dtype leaves of it: 256 is 0 in uint8.
  bool found = false;
  elementwise(find_zero_arithmetic, Tensor(),
              other.dtype() == common ? other : cast_copy(other, common), &found);
  SB_CHECK(!found, "ZeroDivisionError: ", op, ": argument other: integer division by zero");
}

namespace {

Tensor div_mode_body(const Tensor& out, const Tensor& self, const Tensor& other,
                     std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return div_body(out, self, other);
  const bool floor = *rounding_mode == "floor";
  SB_CHECK(floor || *rounding_mode == "trunc",
           "div: argument rounding_mode: expected None, 'trunc' or 'floor', got '", *rounding_mode,
           "'");
  check_divisor("div", self, other);
  return elementwise(floor ? div_floor_arithmetic : div_trunc_arithmetic, out, self, other);
}

Tensor neg_body(const Tensor& out, const Tensor& self) {
  SB_CHECK_NOT_IMPLEMENTED(self.dtype() != DType::Bool,
                           "neg: negation of a bool tensor is not supported; use logical_not");
  return elementwise(neg_arithmetic, out, self);
}

Tensor abs_body(const Tensor& out, const Tensor& self) {
  if (!is_complex(self.dtype())) return elementwise(abs_arithmetic, out, self);
  const DType real = to_real(self.dtype());
  SB_CHECK(!out.is_same(self), "abs_: in-place abs is not supported for complex tensors");
  if (out.defined() && is_complex(out.dtype())) {
    SB_CHECK(out.dtype() == self.dtype(), "abs: found dtype ", to_string(out.dtype()),
             " but expected ", to_string(self.dtype()));
  }
  SB_CHECK(!out.defined() || can_cast(real, out.dtype()), "abs: result type ", to_string(real),
           " can't be cast to the desired output type ", to_string(out.dtype()));
  // As PyTorch: the strides of a new result are those of empty_like.
  if (any_symbolic(self, out)) {
    if (!out.defined())
      return empty_with_symbols(self.sym_sizes(), internal::dense_strides_like(self), real);
    resize_symbolic_output(out, self.sym_sizes());
    return out;
  }
  Tensor result = out;
  if (!out.defined()) {
    result = empty_strided_on(self.device(), self.sizes(), empty_like_strides(self), real);
  }
  const Tensor* const inputs[] = {&self};
  TensorIterator iterator("abs", 0, result, inputs);
  check_implemented(abs_arithmetic, iterator);
  iterator.allocate_output(real);
  run_elementwise(abs_arithmetic, &iterator, real);
  return result;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  take_numbers_for_tensors({"aten::add", "aten::add_", "aten::sub", "aten::sub_", "aten::mul",
                            "aten::mul_", "aten::div", "aten::div_"});
  define(m, add, Tag::pointwise).elementwise<add_body>().out_and_inplace();
  define(m, sub, Tag::pointwise).elementwise<sub_body>().out_and_inplace();
  define(m, mul, Tag::pointwise).elementwise<mul_body>().out_and_inplace();
  define(m, div, Tag::pointwise).elementwise<div_body>().out_and_inplace();
  define(m, div_Tensor_mode, Tag::pointwise)
      .elementwise<div_mode_body>()
      .inplace(div_Tensor_mode_)
      .out(div_Tensor_mode_out);
  define(m, neg, Tag::pointwise).elementwise<neg_body>().out_and_inplace();
  define(m, abs, Tag::pointwise).elementwise<abs_body>().out_and_inplace();

  // With a number: the same with a 0-dim tensor of it.
  define(m, add_Scalar, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& other, const Scalar& alpha) {
        return add(self, wrapped_scalar_tensor(other, self), alpha);
      })
      .inplace(add_Scalar_,
               [](const Tensor& self, const Scalar& other, const Scalar& alpha) {
                 return add_(self, wrapped_scalar_tensor(other, self), alpha);
               })
      .out(add_Scalar_out);
  define(m, sub_Scalar, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& other, const Scalar& alpha) {
        return sub(self, wrapped_scalar_tensor(other, self), alpha);
      })
      .inplace(sub_Scalar_,
               [](const Tensor& self, const Scalar& other, const Scalar& alpha) {
                 return sub_(self, wrapped_scalar_tensor(other, self), alpha);
               })
      .out(sub_Scalar_out);
  define(m, mul_Scalar, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& other) {
        return mul(self, wrapped_scalar_tensor(other, self));
      })
      .inplace(mul_Scalar_,
               [](const Tensor& self, const Scalar& other) {
                 return mul_(self, wrapped_scalar_tensor(other, self));
               })
      .out(mul_Scalar_out);
  define(m, div_Scalar, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& other) {
        return div(self, wrapped_scalar_tensor(other, self));
      })
      .inplace(div_Scalar_,
               [](const Tensor& self, const Scalar& other) {
                 return div_(self, wrapped_scalar_tensor(other, self));
               })
      .out(div_Scalar_out);
  define(m, div_Scalar_mode, Tag::pointwise)
      .composite_explicit(
          [](const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
            return div_Tensor_mode(self, wrapped_scalar_tensor(other, self), mode);
          })
      .inplace(div_Scalar_mode_,
               [](const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
                 return div_Tensor_mode_(self, wrapped_scalar_tensor(other, self), mode);
               })
      .out(div_Scalar_mode_out);

  define(m, rsub, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Tensor& other, const Scalar& alpha) {
        return sub(other, self, alpha);
      })
      .out(rsub_out);
  define(m, rsub_Scalar, Tag::pointwise)
      .composite_explicit([](const Tensor& self, const Scalar& other, const Scalar& alpha) {
        return sub(wrapped_scalar_tensor(other, self), self, alpha);
      })
      .out(rsub_Scalar_out);
}

}  // namespace
#endif  // SB_CPU_VARIANT

}  // namespace sb
