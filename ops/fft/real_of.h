// The types of real and complex numbers.

#ifndef SWITCHBOARD_OPS_FFT_REAL_OF_H_
#define SWITCHBOARD_OPS_FFT_REAL_OF_H_

#include <complex>
#include <type_traits>

namespace sb {
namespace internal {
template <class T>
struct RealOfType {
  using Type = T;
};
template <class T>
struct RealOfType<std::complex<T>> {
  using Type = T;
};
}  // namespace internal

// float of float and of std::complex<float>.
template <class T>
using RealOf = typename internal::RealOfType<T>::Type;

template <class T>
inline constexpr bool kIsReal = std::is_same_v<T, RealOf<T>>;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_REAL_OF_H_
