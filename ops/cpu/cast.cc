#include "switchboard/ops/cpu/cast.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/ops/cpu/cast_kernels.h"

namespace sb {
namespace {

template <class T>
inline constexpr bool is_reduced = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_complex_type = internal::is_std_complex<T>;

// As c10::overflows.
template <class T>
bool fits(double v) {
  if constexpr (is_reduced<T>) {
    return !std::isfinite(v) ||
           std::abs(v) <= static_cast<double>(static_cast<float>(Eigen::NumTraits<T>::highest()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return !std::isfinite(v) || std::abs(v) <= static_cast<double>(std::numeric_limits<T>::max());
  } else {
    // Infinity and NaN fit no integer. The bounds are exact in double, the upper one as 2^63.
    return v >= static_cast<double>(std::numeric_limits<T>::min()) &&
           (sizeof(T) == 8 ? v < 9223372036854775808.0
                           : v <= static_cast<double>(std::numeric_limits<T>::max()));
  }
}

template <class T>
bool fits(const Scalar& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return true;  // any number is a truth value, a complex one by its real part
  } else if constexpr (is_complex_type<T>) {
    const auto z = value.to<std::complex<double>>();
    using R = typename T::value_type;
    return fits<R>(z.real()) && fits<R>(z.imag());
  } else {
    if (value.is_complex()) {
      const auto z = value.to<std::complex<double>>();
      return z.imag() == 0 && fits<T>(z.real());
    }
    if (value.is_floating_point()) return fits<T>(value.to<double>());
    if constexpr (std::is_integral_v<T>) {
      // A negative number in an unsigned type wraps, as long as its magnitude fits.
      const int64_t v = value.to<int64_t>();
      if (std::is_unsigned_v<T> && v < 0) return v >= -int64_t{std::numeric_limits<T>::max()};
      return v >= int64_t{std::numeric_limits<T>::min()} &&
             v <= int64_t{std::numeric_limits<T>::max()};
    }
    return fits<T>(static_cast<double>(value.to<int64_t>()));
  }
}

}  // namespace

CastFunction cast_function(DType from, DType to) {
  return (*cast_kernels)[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

void check_scalar_fits(const Scalar& value, DType dtype) {
  if (value.is_symbolic()) return;  // store_scalar will see
  const bool ok = visit_dtype(dtype, [&]<class T>() { return fits<T>(value); });
  SB_CHECK(ok, "value cannot be converted to type ", to_string(dtype),
           " without overflow: ", value.to_string());
}

void store_scalar(const Scalar& number, DType dtype, void* to) {
  const Scalar value = number.settled();
  check_scalar_fits(value, dtype);
  switch (value.kind()) {
    case DType::Float64: {
      const double v = value.to<double>();
      cast_function(DType::Float64, dtype)(static_cast<char*>(to), 0,
                                           reinterpret_cast<const char*>(&v), 0, 1);
      break;
    }
    case DType::Complex128: {
      const auto v = value.to<std::complex<double>>();
      cast_function(DType::Complex128, dtype)(static_cast<char*>(to), 0,
                                              reinterpret_cast<const char*>(&v), 0, 1);
      break;
    }
    default: {
      const int64_t v = value.to<int64_t>();
      cast_function(DType::Int64, dtype)(static_cast<char*>(to), 0,
                                         reinterpret_cast<const char*>(&v), 0, 1);
    }
  }
}

Scalar load_scalar(DType dtype, const void* from) {
  return visit_dtype(dtype, [&]<class T>() -> Scalar {
    T v;
    if constexpr (std::is_same_v<T, bool>) {
      v = *static_cast<const unsigned char*>(from) != 0;  // the byte may be any
    } else {
      v = *static_cast<const T*>(from);
    }
    if constexpr (is_reduced<T>)
      return Scalar(static_cast<float>(v));
    else
      return Scalar(v);
  });
}

}  // namespace sb
