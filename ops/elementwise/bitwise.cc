#include <cstdint>
#include <numeric>
#include <type_traits>

#include "switchboard/ops/elementwise/regular.h"
#ifndef SB_CPU_VARIANT
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/elementwise/number_forms.h"
#endif

namespace sb {

// Loops for all integers, made once for each size: f sees unsigned ones.
template <size_t inputs, class F, class... T>
constexpr void set_size_loops(LoopTable* table, TypeList<T...>, F) {
  (((*table)[static_cast<size_t>(dtype_of<T>)] =
        &internal::element_loop_entry<F, std::make_unsigned_t<T>, std::make_unsigned_t<T>, inputs>),
   ...);
}
namespace {
// The same with bool.
template <class F>
constexpr LoopTable bit_loops(F f) {
  LoopTable table = element_loops<2>(f, BoolType());
  set_size_loops<2>(&table, IntegerTypes(), f);
  return table;
}
}  // namespace
SB_ELEMENTWISE(bitwise_and_arithmetic, "bitwise_and", kBinaryFlags,
               bit_loops([](auto x, auto y) { return x & y; }));
SB_ELEMENTWISE(bitwise_or_arithmetic, "bitwise_or", kBinaryFlags,
               bit_loops([](auto x, auto y) { return x | y; }));
SB_ELEMENTWISE(bitwise_xor_arithmetic, "bitwise_xor", kBinaryFlags,
               bit_loops([](auto x, auto y) { return x ^ y; }));

namespace {
constexpr LoopTable not_loops() {
  LoopTable table = element_loops<1>([](bool x) { return !x; }, BoolType());
  set_size_loops<1>(&table, IntegerTypes(), [](auto x) { return ~x; });
  return table;
}
}  // namespace
SB_ELEMENTWISE(bitwise_not_arithmetic, "bitwise_not", kUnaryFlags, not_loops());

namespace {
// Whether a shift by so many bits leaves any of an integer of type T: by fewer than none, none do.
template <class T>
constexpr bool leaves_bits(T y) {
  return y >= T(0) && y < static_cast<T>(8 * sizeof(T));
}

constexpr LoopTable left_shift_loops() {
  LoopTable table{};
  set_size_loops<2>(&table, IntegerTypes(), [](auto x, auto y) {
    using Wide = std::conditional_t<sizeof(x) == 8, uint64_t, uint32_t>;
    return leaves_bits(y) ? Wide(x) << y : Wide(0);
  });
  return table;
}
}  // namespace
SB_ELEMENTWISE(bitwise_left_shift_arithmetic, "bitwise_left_shift", kBinaryFlags,
               left_shift_loops());
SB_ELEMENTWISE(bitwise_right_shift_arithmetic, "bitwise_right_shift", kBinaryFlags,
               element_loops<2>(
                   [](auto x, auto y) {
                     // The sign goes on for ever.
                     using T = decltype(x);
                     return static_cast<T>(leaves_bits(y) ? x >> y : x < T(0) ? -1 : 0);
                   },
                   IntegerTypes()));

namespace {
// The absolute value, which wraps for no integer.
template <class T>
constexpr auto magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x));
}
}  // namespace
SB_ELEMENTWISE(gcd_arithmetic, "gcd", kBinaryFlags,
               element_loops<2>([](auto x, auto y) { return std::gcd(magnitude(x), magnitude(y)); },
                                IntegerTypes()));
SB_ELEMENTWISE(lcm_arithmetic, "lcm", kBinaryFlags,
               element_loops<2>(
                   [](auto x, auto y) {
                     using T = decltype(x);
                     const auto divisor = std::gcd(magnitude(x), magnitude(y));
                     if (divisor == 0) return T(0);
                     const uint64_t multiple =
                         static_cast<uint64_t>(magnitude(x) / divisor) * magnitude(y);
                     const T wrapped = static_cast<T>(multiple);
                     return static_cast<T>(magnitude(wrapped));
                   },
                   IntegerTypes()));

#ifndef SB_CPU_VARIANT
namespace {

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, bitwise_and, Tag::pointwise)
      .elementwise<regular<bitwise_and_arithmetic>>()
      .inplace(bitwise_and_)
      .out(bitwise_and_out);
  define(m, bitwise_or, Tag::pointwise)
      .elementwise<regular<bitwise_or_arithmetic>>()
      .inplace(bitwise_or_)
      .out(bitwise_or_out);
  define(m, bitwise_xor, Tag::pointwise)
      .elementwise<regular<bitwise_xor_arithmetic>>()
      .inplace(bitwise_xor_)
      .out(bitwise_xor_out);
  define(m, bitwise_not, Tag::pointwise)
      .elementwise<regular<bitwise_not_arithmetic>>()
      .inplace(bitwise_not_)
      .out(bitwise_not_out);
  define(m, bitwise_left_shift, Tag::pointwise)
      .elementwise<regular<bitwise_left_shift_arithmetic>>()
      .inplace(bitwise_left_shift_)
      .out(bitwise_left_shift_out);
  define(m, bitwise_right_shift, Tag::pointwise)
      .elementwise<regular<bitwise_right_shift_arithmetic>>()
      .inplace(bitwise_right_shift_)
      .out(bitwise_right_shift_out);
  define(m, gcd, Tag::pointwise).elementwise<regular<gcd_arithmetic>>().out_and_inplace();
  define(m, lcm, Tag::pointwise).elementwise<regular<lcm_arithmetic>>().out_and_inplace();
  constexpr DispatchKey implicit = DispatchKey::CompositeImplicitAutograd;
  const auto define_number_first = [&](const auto& form, const auto& op) {
    define_number_forms(m, form, op);
    extend(m, form).out("Scalar_Tensor_out");
  };
  define_number_forms(m, bitwise_and_Scalar, bitwise_and, {.inplace = implicit});
  define_number_forms(m, bitwise_or_Scalar, bitwise_or, {implicit});
  define_number_forms(m, bitwise_xor_Scalar, bitwise_xor, {implicit});
  define_number_first(bitwise_and_Scalar_Tensor, bitwise_and);
  define_number_first(bitwise_or_Scalar_Tensor, bitwise_or);
  define_number_first(bitwise_xor_Scalar_Tensor, bitwise_xor);
  define_number_forms(m, bitwise_left_shift_Tensor_Scalar, bitwise_left_shift);
  define_number_forms(m, bitwise_right_shift_Tensor_Scalar, bitwise_right_shift);
  define_number_first(bitwise_left_shift_Scalar_Tensor, bitwise_left_shift);
  define_number_first(bitwise_right_shift_Scalar_Tensor, bitwise_right_shift);
}

}  // namespace
#endif

}  // namespace sb
