// A number of any dtype category, or a symbol for one: what schemas call `Scalar`.

#ifndef SWITCHBOARD_CORE_SCALAR_H_
#define SWITCHBOARD_CORE_SCALAR_H_

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "switchboard/core/dtype.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/sym_float.h"
#include "switchboard/core/symbols/sym_int.h"

namespace sb {

namespace internal {
template <class T>
inline constexpr bool is_std_complex = false;
template <class T>
inline constexpr bool is_std_complex<std::complex<T>> = true;
}  // namespace internal

// As `c10::Scalar`: holds a bool, int64, double or complex double, and remembers which; or a symbol
// for one of the first three, which counts as of that kind. Reading a symbol's value adds a guard.
class Scalar {
 public:
  constexpr Scalar() : Scalar(int64_t{0}) {}
  constexpr Scalar(bool v) : tag_(tag_of(DType::Bool)) { value_.i = v; }  // NOLINT
  template <std::integral T>
  constexpr Scalar(T v) : tag_(tag_of(DType::Int64)) {  // NOLINT
    value_.i = static_cast<int64_t>(v);
  }
  template <std::floating_point T>
  constexpr Scalar(T v) : tag_(tag_of(DType::Float64)) {  // NOLINT
    value_.d = static_cast<double>(v);
  }
  template <class T>
  constexpr Scalar(std::complex<T> v) : tag_(tag_of(DType::Complex128)) {  // NOLINT
    value_.z[0] = v.real();
    value_.z[1] = v.imag();
  }
  // A plain one is a plain number.
  Scalar(const SymInt& v);    // NOLINT
  Scalar(const SymFloat& v);  // NOLINT
  Scalar(const SymBool& v);   // NOLINT

  constexpr Scalar(const Scalar& other) noexcept : tag_(other.tag_), value_(other.value_) {
    if (is_symbolic()) [[unlikely]]
      retain();
  }
  Scalar& operator=(const Scalar& other) noexcept {
    if (other.is_symbolic()) [[unlikely]]
      other.retain();
    if (is_symbolic()) [[unlikely]]
      release();
    tag_ = other.tag_;
    value_ = other.value_;
    return *this;
  }
  constexpr ~Scalar() {
    if (is_symbolic()) [[unlikely]]
      release();
  }

  constexpr bool is_bool() const { return kind() == DType::Bool; }
  constexpr bool is_int() const { return kind() == DType::Int64; }
  constexpr bool is_floating_point() const { return kind() == DType::Float64; }
  constexpr bool is_complex() const { return kind() == DType::Complex128; }
  // Bool, Int64, Float64 or Complex128.
  constexpr DType kind() const { return static_cast<DType>(tag_ & ~kSymbolic); }
  // The dtype that a tensor made from it has: bool, int64, the default dtype or its complex form.
  DType dtype() const;

  constexpr bool is_symbolic() const { return (tag_ & kSymbolic) != 0; }
  // The symbol or the plain number. Throws TypeError for a complex one.
  SymValue sym_value() const;
  // The number converted, as to<int64_t>() and to<double>() do, with nothing guarded. Throws as
  // these do.
  SymInt to_sym_int() const;
  SymFloat to_sym_float() const;
  // Returns whether it is the plain integer v. No guard, and no call: false where it may be.
  constexpr bool is(int64_t v) const { return tag_ == tag_of(DType::Int64) && value_.i == v; }

  // The value as T (bool, an integer, float, double, a complex, or a type made from float such as
  // half). Conversions are C++'s, saturating nothing. Throws RuntimeError for a complex value with
  // an imaginary part that is to become real, and for a finite one beyond the range of half or
  // bfloat16. Reading the value of a symbol adds a guard, which names
  // `where`.
  template <class T>
  T to(SourceLocation where = SourceLocation::current()) const {
    if (is_symbolic()) [[unlikely]]
      return settle_to<T>(where);
    return plain_to<T>();
  }

  // The plain number: of a symbol, after a guard.
  Scalar settled(SourceLocation where = SourceLocation::current()) const;

  Scalar operator-() const;
  // Same kind and same value (NaN is not equal to itself); of symbols, the same expression.
  bool operator==(const Scalar& other) const;
  // As Python prints it: "True", "3", "2.5", "(1+2j)"; a symbol's expression.
  std::string to_string() const;

 private:
  template <class T>
  T plain_to() const {
    switch (kind()) {
      case DType::Float64:
        return convert<T>(value_.d);
      case DType::Complex128:
        if constexpr (internal::is_std_complex<T>) {
          return T(static_cast<typename T::value_type>(value_.z[0]),
                   static_cast<typename T::value_type>(value_.z[1]));
        } else {
          SB_CHECK(value_.z[1] == 0,
                   "value cannot be converted to a real type without overflow: ", to_string());
          return convert<T>(value_.z[0]);
        }
      default:
        return convert<T>(value_.i);
    }
  }
  template <class T>
  [[gnu::cold, gnu::noinline]] T settle_to(SourceLocation where) const {
    return settled(where).plain_to<T>();
  }
  void set_symbol(DType kind, const SymNode* node);
  [[gnu::cold, gnu::noinline]] void retain() const noexcept { value_.node->retain(); }
  [[gnu::cold, gnu::noinline]] void release() const noexcept { value_.node->release(); }

  // Out-of-range conversions from floating point to integers are undefined in C++: they go through
  // int64, and what does not fit that becomes its minimum, as x86 does.
  template <class T, class From>
  static T convert(From v) {
    if constexpr (std::same_as<T, bool>) {
      return v != From(0);
    } else if constexpr (std::integral<T> && std::floating_point<From>) {
      const bool fits = v >= -9223372036854775808.0 && v < 9223372036854775808.0;
      return static_cast<T>(fits ? static_cast<int64_t>(v) : INT64_MIN);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(v);
    } else if constexpr (internal::is_std_complex<T>) {
      return T(static_cast<typename T::value_type>(v));
    } else {
      if constexpr (std::numeric_limits<T>::is_specialized) {
        const double max = static_cast<float>(std::numeric_limits<T>::max());
        const double number = static_cast<double>(v);
        const bool infinite = number - number != 0;  // or no number
        if (!infinite && (number > max || number < -max)) [[unlikely]]
          throw_overflow(number, max);
      }
      return T(static_cast<float>(v));
    }
  }
  [[noreturn, gnu::cold]] static void throw_overflow(double value, double max);

  // The kind, and whether it is a symbol: in one byte, so that asking for both is one comparison.
  static constexpr uint8_t kSymbolic = 0x80;
  static constexpr uint8_t tag_of(DType kind) { return static_cast<uint8_t>(kind); }

  uint8_t tag_;
  union {
    int64_t i;
    double d;
    double z[2];
    const SymNode* node;  // a reference of its own
  } value_;
};
static_assert(sizeof(Scalar) == 24);

std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SCALAR_H_
