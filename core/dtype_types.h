// The C++ type of each dtype, and dispatch from a dtype known at run time to code for its type.
// Kept apart from dtype.h because it brings Eigen in.

#ifndef SWITCHBOARD_CORE_DTYPE_TYPES_H_
#define SWITCHBOARD_CORE_DTYPE_TYPES_H_

#include <complex>
#include <cstdint>

#include "Eigen/Core"
#include "switchboard/core/dtype.h"
#include "switchboard/core/error.h"

namespace sb {

using Half = Eigen::half;
using BFloat16 = Eigen::bfloat16;

#define SB_FORALL_DTYPE_TYPES(X)      \
  X(UInt8, uint8_t)                   \
  X(Int8, int8_t)                     \
  X(Int16, int16_t)                   \
  X(Int32, int32_t)                   \
  X(Int64, int64_t)                   \
  X(Float16, Half)                    \
  X(Float32, float)                   \
  X(Float64, double)                  \
  X(Complex64, std::complex<float>)   \
  X(Complex128, std::complex<double>) \
  X(Bool, bool)                       \
  X(BFloat16, BFloat16)

namespace internal {
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::Float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BFloat16;
};

template <DType t>
struct TypeOf;
#define SB_TYPE(name, ctype)                               \
  template <>                                              \
  struct TypeOf<DType::name> {                             \
    using type = ctype;                                    \
    static_assert(sizeof(ctype) == itemsize(DType::name)); \
    static_assert(DTypeOf<ctype>::value == DType::name);   \
  };
SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
}  // namespace internal

template <DType t>
using type_of = typename internal::TypeOf<t>::type;

// Calls f.template operator()<T>() with the C++ type T of `t`. Throws NotImplementedError for a
// quantized dtype.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
#define SB_TYPE(name, ctype) \
  case DType::name:          \
    return f.template operator()<ctype>();
    SB_FORALL_DTYPE_TYPES(SB_TYPE)
#undef SB_TYPE
    default:
      SB_THROW(NotImplementedError, "expected a dtype whose elements are numbers, got ",
               to_string(t));
  }
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_DTYPE_TYPES_H_
