// Loops made from functions of elements, where array_loops.h makes them from functions of arrays:
// for arithmetic that Eigen has no expression for. The compiler vectorises them where it can.
//
//   constexpr LoopTable addcmul_loops() {
//     LoopTable table{};
//     set_element_loops<3>(&table, FloatTypes(), [](const auto& n, auto x, auto y, auto z) {
//       return x + n[0] * y * z;
//     });
//     return table;
//   }
//
// n holds the operator's numbers, as elements: see regular.h.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_ELEMENT_LOOPS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_ELEMENT_LOOPS_H_

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "switchboard/ops/cpu/array_loops.h"
#include "switchboard/ops/cpu/independent_loop.h"

namespace sb {

// The most numbers that an operator has.
inline constexpr size_t kMaxNumbers = 4;
// What `params` of a regular operator points to.
struct Numbers {
  std::array<Scalar, kMaxNumbers> values;
  size_t count = 0;
};

namespace internal {

// The bytes of a bool may be any, as those of a view of another dtype are: what is not 0 is true.
template <class T>
const T& read_element(const T& x) {
  return x;
}
inline bool read_element(const bool& x) { return *reinterpret_cast<const unsigned char*>(&x) != 0; }

template <class F, class R, class T, size_t... I>
void element_loop(char* const* data, int64_t n, const void* params, std::index_sequence<I...>) {
  R* const out = reinterpret_cast<R*>(data[0]);
  const std::array<const T*, sizeof...(I)> in = {reinterpret_cast<const T*>(data[I + 1])...};
  // Elements are read at the index that is written, if anywhere in `out`.
  if constexpr (std::is_invocable_v<F, std::array<T, kMaxNumbers>&,
                                    std::conditional_t<I == I, T, T>...>) {
    std::array<T, kMaxNumbers> numbers{};
    if (params) {
      const Numbers& given = *static_cast<const Numbers*>(params);
      for (size_t i = 0; i < given.count; ++i) numbers[i] = given.values[i].to<T>();
    }
    SB_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<R>(F()(numbers, read_element(in[I][i])...));
  } else {
    SB_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(F()(read_element(in[I][i])...));
  }
}
template <class F, class R, class T, size_t inputs>
void element_loop_entry(char* const* data, int64_t n, const void* params) {
  element_loop<F, R, T>(data, n, params, std::make_index_sequence<inputs>());
}

}  // namespace internal

// Puts the loops of f over `inputs` inputs into a table, for each type of the list. f takes and
// gives elements; a leading parameter is the array of the operator's numbers. R is the element type
// of the output, the inputs' by default.
template <size_t inputs, class R = internal::SameType, class F, class... T>
constexpr void set_element_loops(LoopTable* table, TypeList<T...>, F) {
  (((*table)[static_cast<size_t>(dtype_of<T>)] =
        &internal::element_loop_entry<
            F, std::conditional_t<std::is_same_v<R, internal::SameType>, T, R>, T, inputs>),
   ...);
}

// A table of such loops for the types of all lists.
template <size_t inputs, class R = internal::SameType, class F, class... Lists>
constexpr LoopTable element_loops(F f, Lists... lists) {
  LoopTable table{};
  (set_element_loops<inputs, R>(&table, lists, f), ...);
  return table;
}
// The same of functions of arrays.
template <size_t inputs, class R = internal::SameType, class F, class... Lists>
constexpr LoopTable array_loops(F f, Lists... lists) {
  LoopTable table{};
  (set_loops<inputs, R>(&table, lists, f), ...);
  return table;
}

// x, for the dtypes that an operator leaves as they are.
struct Identity {
  template <class T>
  T operator()(const T& x) const {
    return x;
  }
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_ELEMENT_LOOPS_H_
