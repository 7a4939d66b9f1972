// Functions of Eigen arrays of float and double, whole packets at a time: `vec::exp(a)` is an Eigen
// expression like a.exp(), also within others: `1 / (1 + vec::exp(-x))`. For .cc files of
// cpu_kernels (cpu_kernel.h), which compile it for the packets of each CPU capability.
//
// The arithmetic is that of glibc's libmvec: at most 4 units in the last place off, right at zeros,
// infinities and NaNs, and without loss of denormals. Eigen's own functions, a.exp(), are none of
// these; even its a.sqrt() is an approximation in places, hence vec::sqrt, which is exact. The
// result for an element depends on nothing but the element and the CPU capability: an odd one at
// the end of an array is computed in a packet, too.
//
// Elements of other types, complex ones among them, and other platforms get the standard library's
// functions.

#ifndef SWITCHBOARD_OPS_CPU_VECTOR_MATH_H_
#define SWITCHBOARD_OPS_CPU_VECTOR_MATH_H_

#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "Eigen/Core"

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#define SB_HAS_LIBMVEC 1
#else
#define SB_HAS_LIBMVEC 0
#endif

namespace sb::vec {
namespace internal {

template <class T>
inline constexpr bool in_packets = SB_HAS_LIBMVEC &&
                                   (std::is_same_v<T, float> || std::is_same_v<T, double>);

// The first element. (pfirst makes gcc 12 warn of AVX-512's own header.)
template <class T, class Packet>
T first_of(const Packet& packet) {
  T first;
  std::memcpy(&first, &packet, sizeof(T));
  return first;
}

// F has `packet` for packets and `scalar` for elements.
template <class F, class T>
struct Unary {
  T operator()(const T& x) const {
    if constexpr (in_packets<T>) {
      using Packet = typename Eigen::internal::packet_traits<T>::type;
      return first_of<T>(F::packet(Eigen::internal::pset1<Packet>(x)));
    } else {
      return F::scalar(x);
    }
  }
  template <class Packet>
  Packet packetOp(const Packet& x) const {
    return F::packet(x);
  }
};
template <class F, class T>
struct Binary {
  T operator()(const T& x, const T& y) const {
    if constexpr (in_packets<T>) {
      using Packet = typename Eigen::internal::packet_traits<T>::type;
      return first_of<T>(
          F::packet(Eigen::internal::pset1<Packet>(x), Eigen::internal::pset1<Packet>(y)));
    } else {
      return F::scalar(x, y);
    }
  }
  template <class Packet>
  Packet packetOp(const Packet& x, const Packet& y) const {
    return F::packet(x, y);
  }
};

}  // namespace internal
}  // namespace sb::vec

namespace Eigen::internal {
template <class F, class T>
struct functor_traits<sb::vec::internal::Unary<F, T>> {
  enum { Cost = 40, PacketAccess = sb::vec::internal::in_packets<T> };
};
template <class F, class T>
struct functor_traits<sb::vec::internal::Binary<F, T>> {
  enum { Cost = 80, PacketAccess = sb::vec::internal::in_packets<T> };
};
}  // namespace Eigen::internal

// libmvec's functions, by the names of the x86 vector ABI, as overloads of F::packet.
#if SB_HAS_LIBMVEC
#define SB_VEC_DECLARE_(P, symbol, args) extern "C" P symbol args noexcept;
#define SB_VEC_UNARY_SYMBOL_(isa, n, name, P) SB_VEC_DECLARE_(P, _ZGV##isa##N##n##v_##name, (P))
#define SB_VEC_BINARY_SYMBOL_(isa, n, name, P) \
  SB_VEC_DECLARE_(P, _ZGV##isa##N##n##vv_##name, (P, P))
#define SB_VEC_UNARY_OVERLOAD_(isa, n, name, P) \
  static P packet(P x) { return _ZGV##isa##N##n##v_##name(x); }
#define SB_VEC_BINARY_OVERLOAD_(isa, n, name, P) \
  static P packet(P x, P y) { return _ZGV##isa##N##n##vv_##name(x, y); }
#define SB_VEC_SSE_(kind, name) kind(b, 4, name##f, __m128) kind(b, 2, name, __m128d)
#ifdef __AVX2__
#define SB_VEC_AVX_(kind, name) kind(d, 8, name##f, __m256) kind(d, 4, name, __m256d)
#else
#define SB_VEC_AVX_(kind, name)
#endif
#ifdef __AVX512F__
#define SB_VEC_AVX512_(kind, name) kind(e, 16, name##f, __m512) kind(e, 8, name, __m512d)
#else
#define SB_VEC_AVX512_(kind, name)
#endif
#define SB_VEC_ALL_(kind, name) \
  SB_VEC_SSE_(kind, name) SB_VEC_AVX_(kind, name) SB_VEC_AVX512_(kind, name)
#else
#define SB_VEC_ALL_(kind, name)
#endif

#define SB_VEC_UNARY(name)                                                                \
  SB_VEC_ALL_(SB_VEC_UNARY_SYMBOL_, name)                                                 \
  namespace sb::vec {                                                                     \
  namespace internal {                                                                    \
  struct name##_function {                                                                \
    SB_VEC_ALL_(SB_VEC_UNARY_OVERLOAD_, name)                                             \
    template <class T>                                                                    \
    static T scalar(const T& x) {                                                         \
      return std::name(x);                                                                \
    }                                                                                     \
  };                                                                                      \
  }                                                                                       \
  template <class A>                                                                      \
  auto name(const Eigen::ArrayBase<A>& x) {                                               \
    return x.unaryExpr(internal::Unary<internal::name##_function, typename A::Scalar>()); \
  }                                                                                       \
  }
#define SB_VEC_BINARY(name)                                                                    \
  SB_VEC_ALL_(SB_VEC_BINARY_SYMBOL_, name)                                                     \
  namespace sb::vec {                                                                          \
  namespace internal {                                                                         \
  struct name##_function {                                                                     \
    SB_VEC_ALL_(SB_VEC_BINARY_OVERLOAD_, name)                                                 \
    template <class T>                                                                         \
    static T scalar(const T& x, const T& y) {                                                  \
      return std::name(x, y);                                                                  \
    }                                                                                          \
  };                                                                                           \
  }                                                                                            \
  template <class A, class B>                                                                  \
  auto name(const Eigen::ArrayBase<A>& x, const Eigen::ArrayBase<B>& y) {                      \
    return x.binaryExpr(y, internal::Binary<internal::name##_function, typename A::Scalar>()); \
  }                                                                                            \
  }

namespace sb::vec {
namespace internal {
struct sqrt_function {
#if SB_HAS_LIBMVEC
  static __m128 packet(__m128 x) { return _mm_sqrt_ps(x); }
  static __m128d packet(__m128d x) { return _mm_sqrt_pd(x); }
#ifdef __AVX2__
  static __m256 packet(__m256 x) { return _mm256_sqrt_ps(x); }
  static __m256d packet(__m256d x) { return _mm256_sqrt_pd(x); }
#endif
#ifdef __AVX512F__
  // As an operation of the masked kind, whose inactive lanes are given: gcc 12 warns of the other.
  static __m512 packet(__m512 x) { return _mm512_mask_sqrt_ps(x, 0xffff, x); }
  static __m512d packet(__m512d x) { return _mm512_mask_sqrt_pd(x, 0xff, x); }
#endif
#endif
  template <class T>
  static T scalar(const T& x) {
    return std::sqrt(x);
  }
};
}  // namespace internal
template <class A>
auto sqrt(const Eigen::ArrayBase<A>& x) {
  return x.unaryExpr(internal::Unary<internal::sqrt_function, typename A::Scalar>());
}
}  // namespace sb::vec

SB_VEC_UNARY(exp)
SB_VEC_UNARY(exp2)
SB_VEC_UNARY(expm1)
SB_VEC_UNARY(log)
SB_VEC_UNARY(log2)
SB_VEC_UNARY(log10)
SB_VEC_UNARY(log1p)
SB_VEC_UNARY(sin)
SB_VEC_UNARY(cos)
SB_VEC_UNARY(tan)
SB_VEC_UNARY(asin)
SB_VEC_UNARY(acos)
SB_VEC_UNARY(atan)
SB_VEC_UNARY(sinh)
SB_VEC_UNARY(cosh)
SB_VEC_UNARY(tanh)
SB_VEC_UNARY(asinh)
SB_VEC_UNARY(acosh)
SB_VEC_UNARY(atanh)
SB_VEC_UNARY(erf)
SB_VEC_UNARY(erfc)
SB_VEC_BINARY(pow)
SB_VEC_BINARY(atan2)
SB_VEC_BINARY(hypot)

#undef SB_VEC_UNARY
#undef SB_VEC_BINARY
#undef SB_VEC_ALL_
#undef SB_VEC_AVX512_
#undef SB_VEC_AVX_
#undef SB_VEC_SSE_
#undef SB_VEC_BINARY_OVERLOAD_
#undef SB_VEC_UNARY_OVERLOAD_
#undef SB_VEC_BINARY_SYMBOL_
#undef SB_VEC_UNARY_SYMBOL_
#undef SB_VEC_DECLARE_

#endif  // SWITCHBOARD_OPS_CPU_VECTOR_MATH_H_
