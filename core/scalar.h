// A number of any dtype category: what schemas call `Scalar`.

#ifndef SWITCHBOARD_CORE_SCALAR_H_
#define SWITCHBOARD_CORE_SCALAR_H_

#include <complex>
#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>

#include "switchboard/core/dtype.h"
#include "switchboard/core/error.h"

namespace sb {

namespace internal {
template <class T>
inline constexpr bool is_std_complex = false;
template <class T>
inline constexpr bool is_std_complex<std::complex<T>> = true;
}  // namespace internal

// As `c10::Scalar`: holds a bool, int64, double or complex double, and remembers which.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool v) : kind_(DType::Bool) { value_.i = v; }  // NOLINT
  template <std::integral T>
  Scalar(T v) : kind_(DType::Int64) {  // NOLINT
    value_.i = static_cast<int64_t>(v);
  }
  template <std::floating_point T>
  Scalar(T v) : kind_(DType::Float64) {  // NOLINT
    value_.d = static_cast<double>(v);
  }
  template <class T>
  Scalar(std::complex<T> v) : kind_(DType::Complex128) {  // NOLINT
    value_.z[0] = v.real();
    value_.z[1] = v.imag();
  }

  bool is_bool() const { return kind_ == DType::Bool; }
  bool is_int() const { return kind_ == DType::Int64; }
  bool is_floating_point() const { return kind_ == DType::Float64; }
  bool is_complex() const { return kind_ == DType::Complex128; }
  // Bool, Int64, Float64 or Complex128.
  DType kind() const { return kind_; }
  // The dtype that a tensor made from it has: bool, int64, the default dtype or its complex form.
  DType dtype() const;

  // The value as T (bool, an integer, float, double, a complex, or a type made from float such as
  // half). Conversions are C++'s, saturating nothing; a complex value with an imaginary part does
  // not become real: throws RuntimeError.
  template <class T>
  T to() const {
    switch (kind_) {
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

  Scalar operator-() const;
  // Same kind and same value (NaN is not equal to itself).
  bool operator==(const Scalar& other) const;
  // As Python prints it: "True", "3", "2.5", "(1+2j)".
  std::string to_string() const;

 private:
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
      return T(static_cast<float>(v));
    }
  }

  DType kind_;
  union {
    int64_t i;
    double d;
    double z[2];
  } value_;
};

std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SCALAR_H_
