// Loops over contiguous arrays, made from functions of Eigen arrays. Included by the .cc files that
// hold arithmetic, and by nothing else: it brings Eigen in.

#ifndef SWITCHBOARD_OPS_CPU_ARRAY_LOOPS_H_
#define SWITCHBOARD_OPS_CPU_ARRAY_LOOPS_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "Eigen/Core"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/scalar.h"
#include "switchboard/ops/cpu/elementwise_op.h"

namespace sb {

template <class... T>
struct TypeList {};
using SignedTypes = TypeList<int8_t, int16_t, int32_t, int64_t>;
using IntegerTypes = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using BoolType = TypeList<bool>;
using FloatTypes = TypeList<float, double>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;

namespace internal {

template <class T>
using EigenArray = Eigen::Array<T, Eigen::Dynamic, 1>;

// out = F(inputs...), or F(params, inputs...). R is the element type of the output, T of the
// inputs.
template <class F, class R, class T, size_t... I>
void array_loop(char* const* data, int64_t n, const void* params, std::index_sequence<I...>) {
  Eigen::Map<EigenArray<R>> out(reinterpret_cast<R*>(data[0]), n);
  const auto input = [&](size_t i) {
    // The bytes of a bool may be any, as those of a view of another dtype: what is not 0 is true.
    if constexpr (std::is_same_v<T, bool>) {
      using Bytes = Eigen::Map<const EigenArray<uint8_t>>;
      return Bytes(reinterpret_cast<const uint8_t*>(data[i + 1]), n) != uint8_t{0};
    } else {
      return Eigen::Map<const EigenArray<T>>(reinterpret_cast<const T*>(data[i + 1]), n);
    }
  };
  if constexpr (std::is_invocable_v<F, const void*, decltype(input(I))...>) {
    out = F()(params, input(I)...);
  } else {
    out = F()(input(I)...);
  }
}
template <class F, class R, class T, size_t inputs>
void array_loop_entry(char* const* data, int64_t n, const void* params) {
  array_loop<F, R, T>(data, n, params, std::make_index_sequence<inputs>());
}

struct SameType;

}  // namespace internal

// Puts the loops of f over `inputs` inputs into a table, for each type of the list. f takes and
// gives Eigen arrays; a leading `const void*` parameter is what the operator passes as params.
template <size_t inputs, class R = internal::SameType, class F, class... T>
constexpr void set_loops(LoopTable* table, TypeList<T...>, F) {
  (((*table)[static_cast<size_t>(dtype_of<T>)] =
        &internal::array_loop_entry<
            F, std::conditional_t<std::is_same_v<R, internal::SameType>, T, R>, T, inputs>),
   ...);
}

// The same for integers whose overflow wraps: computes in the unsigned type of the same size.
template <size_t inputs, class F, class... T>
constexpr void set_wrapping_loops(LoopTable* table, TypeList<T...>, F) {
  (((*table)[static_cast<size_t>(dtype_of<T>)] =
        &internal::array_loop_entry<F, std::make_unsigned_t<T>, std::make_unsigned_t<T>, inputs>),
   ...);
}

// The Scalar that `params` points to.
template <class T>
T scalar_param(const void* params) {
  return static_cast<const Scalar*>(params)->to<T>();
}
template <class Array>
using element_of = typename std::decay_t<Array>::Scalar;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_ARRAY_LOOPS_H_
