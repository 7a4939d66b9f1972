#include "switchboard/ops/cast.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "switchboard/core/dtype_types.h"

namespace sb {
namespace {

template <class T>
inline constexpr bool is_reduced = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_complex_type = internal::is_std_complex<T>;

// Out-of-range conversions are undefined in C++. They give what x86 gives: the lowest int32 or
// int64, of which the low bits stay.
template <class To, class From>
To float_to_int(From v) {
  using Wide = std::conditional_t<sizeof(To) == 8 || std::is_same_v<To, uint8_t>, int64_t, int32_t>;
  constexpr From limit = static_cast<From>(std::numeric_limits<Wide>::min());
  return static_cast<To>(v >= limit && v < -limit ? static_cast<Wide>(v)
                                                  : std::numeric_limits<Wide>::min());
}

template <class To, class From>
To cast_element(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (is_complex_type<From>) {
    if constexpr (is_complex_type<To>) {
      return To(static_cast<typename To::value_type>(v.real()),
                static_cast<typename To::value_type>(v.imag()));
    } else {
      return cast_element<To>(v.real());
    }
  } else if constexpr (is_complex_type<To>) {
    return To(cast_element<typename To::value_type>(v));
  } else if constexpr (is_reduced<From>) {
    return cast_element<To>(static_cast<float>(v));
  } else if constexpr (is_reduced<To>) {
    return To(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return float_to_int<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// An element in memory. The bytes of a bool may be any, as those of a fresh tensor or of a view of
// another dtype are: what is not 0 is true.
template <class T>
T load(const T* element) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const unsigned char*>(element) != 0;
  } else {
    return *element;
  }
}

template <class To, class From>
void cast_range(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    if constexpr (std::is_same_v<To, From>) {
      std::memmove(to, from, static_cast<size_t>(n) * sizeof(To));  // views may overlap
    } else {
      To* const t = reinterpret_cast<To*>(to);
      const From* const f = reinterpret_cast<const From*>(from);
      for (int64_t i = 0; i < n; ++i) t[i] = cast_element<To>(load(f + i));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<To*>(to) = cast_element<To>(load(reinterpret_cast<const From*>(from)));
    to += to_stride;
    from += from_stride;
  }
}

template <class From>
constexpr std::array<CastFunction, kNumDTypes> casts_from = {
#define SB_TYPE(name, To) &cast_range<To, From>,
    SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
};

constexpr const std::array<CastFunction, kNumDTypes>* kCasts[] = {
#define SB_TYPE(name, From) &casts_from<From>,
    SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
};

// As c10::overflows.
template <class T>
bool fits(double v) {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else if constexpr (is_reduced<T>) {
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
  if constexpr (is_complex_type<T>) {
    const auto z = value.to<std::complex<double>>();
    using R = typename T::value_type;
    return fits<R>(z.real()) && fits<R>(z.imag());
  } else {
    if (value.is_complex()) {
      const auto z = value.to<std::complex<double>>();
      return z.imag() == 0 && fits<T>(z.real());
    }
    if (value.is_floating_point()) return fits<T>(value.to<double>());
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
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
  return (*kCasts[static_cast<int>(from)])[static_cast<size_t>(to)];
}

void check_scalar_fits(const Scalar& value, DType dtype) {
  const bool ok = visit_dtype(dtype, [&]<class T>() { return fits<T>(value); });
  SB_CHECK(ok, "value cannot be converted to type ", to_string(dtype),
           " without overflow: ", value.to_string());
}

void store_scalar(const Scalar& value, DType dtype, void* to) {
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
    const T v = load(static_cast<const T*>(from));
    if constexpr (is_reduced<T>)
      return Scalar(static_cast<float>(v));
    else
      return Scalar(v);
  });
}

}  // namespace sb
