#include "switchboard/ops/cpu/cast_kernels.h"

#include <algorithm>
#include <bit>
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
// int64, of which the low bits stay. Without a branch, so that loops of it are vectorised.
template <class To, class From>
To float_to_int(From v) {
  using Wide = std::conditional_t<sizeof(To) == 8 || std::is_same_v<To, uint8_t>, int64_t, int32_t>;
  constexpr From lowest = static_cast<From>(std::numeric_limits<Wide>::min());
  return static_cast<To>(static_cast<Wide>(((v >= lowest) & (v < -lowest)) ? v : lowest));
}

template <class To, class From>
To cast_element(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, bool>) {
    return cast_element<To>(static_cast<uint8_t>(v));  // which gcc vectorises
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

// Between float and the 16-bit types, vectorised.
void widen(float* to, const BFloat16* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i].value) << 16);
  }
}
void narrow(BFloat16* to, const float* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}
void widen(float* to, const Half* from, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
void narrow(Half* to, const float* from, int64_t n) {
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
#endif
  for (; i < n; ++i) to[i] = Half(from[i]);
}

template <class To, class From>
void cast_array(To* to, const From* from, int64_t n) {
  if constexpr (std::is_same_v<To, From>) {
    std::memmove(to, from, static_cast<size_t>(n) * sizeof(To));  // views may overlap
  } else if constexpr (is_reduced<From> && std::is_same_v<To, float>) {
    widen(to, from, n);
  } else if constexpr (is_reduced<To> && std::is_same_v<From, float>) {
    narrow(to, from, n);
  } else if constexpr (is_reduced<To> || is_reduced<From>) {
    // By way of float, as cast_element.
    constexpr int64_t step = 256;
    float floats[step];
    for (int64_t i = 0; i < n; i += step) {
      const int64_t count = std::min(step, n - i);
      cast_array(floats, from + i, count);
      cast_array(to + i, floats, count);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = cast_element<To>(load(from + i));
  }
}

template <class To, class From>
void cast_range(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    cast_array(reinterpret_cast<To*>(to), reinterpret_cast<const From*>(from), n);
  } else if (to_stride == sizeof(To) && from_stride == 0) {
    if (n > 0) {
      std::fill_n(reinterpret_cast<To*>(to), n,
                  cast_element<To>(load(reinterpret_cast<const From*>(from))));
    }
  } else if (to_stride == sizeof(To)) {
    To* const t = reinterpret_cast<To*>(to);
    for (int64_t i = 0; i < n; ++i) {
      t[i] = cast_element<To>(load(reinterpret_cast<const From*>(from + i * from_stride)));
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<To*>(to) = cast_element<To>(load(reinterpret_cast<const From*>(from)));
      to += to_stride;
      from += from_stride;
    }
  }
}

// A copy of a bool has the same byte, as larger ones have.
template <class To, class From>
using Copied =
    std::conditional_t<std::is_same_v<To, bool> && std::is_same_v<From, bool>, uint8_t, To>;

template <class From>
constexpr std::array<CastFunction, kNumDTypes> casts_from = {
#define SB_TYPE(name, To) &cast_range<Copied<To, From>, Copied<From, To>>,
    SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
};

constexpr CastTable casts = {
#define SB_TYPE(name, From) casts_from<From>,
    SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
};

}  // namespace

SB_CPU_KERNEL(CastTable, cast_kernels, casts);

}  // namespace sb
