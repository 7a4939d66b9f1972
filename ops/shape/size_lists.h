// Lists of sizes, in the rules of by_size.h.

#ifndef SWITCHBOARD_OPS_SHAPE_SIZE_LISTS_H_
#define SWITCHBOARD_OPS_SHAPE_SIZE_LISTS_H_

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/size_text.h"

namespace sb {

// A tensor's sizes, to be changed.
template <SizeType Int>
SizeVector<Int> size_vector(const Tensor& t) {
  const SizesRef<Int> sizes = sizes_of<Int>(t);
  return SizeVector<Int>(sizes.begin(), sizes.end());
}

// Returns whether two lists are equal: a condition for SB_CHECK, which then records one for each
// pair that is not known to be equal.
template <SizeType Int>
std::conditional_t<std::same_as<Int, int64_t>, bool, SymBool> equal_sizes(SizesRef<Int> a,
                                                                          SizesRef<Int> b) {
  if constexpr (std::same_as<Int, int64_t>) {
    return a == b;
  } else {
    SymBool equal = a.size() == b.size();
    for (size_t d = 0; d < a.size() && d < b.size(); ++d) {
      const SymBool same = a[d] == b[d];
      if (!known(same)) equal = equal & same;
    }
    return equal;
  }
}

// Returns whether a is less, where sizes that data decides count as at least 2.
inline bool is_less(int64_t a, int64_t b) { return a < b; }
inline bool is_less(const SymInt& a, const SymInt& b) { return guard_size_oblivious(a < b); }

// Sums that do not fit throw RuntimeError.
inline int64_t sum_of(int64_t a, int64_t b) { return checked_add(a, b); }
inline SymInt sum_of(const SymInt& a, const SymInt& b) { return a + b; }

// The product. Throws RuntimeError where numbers do not fit int64.
template <SizeType Int>
Int product_of_sizes(SizesRef<Int> sizes) {
  if constexpr (std::same_as<Int, int64_t>)
    return checked_numel(sizes);
  else
    return sym_product(sizes);
}

// Returns whether only data tell if the size is 1.
inline bool may_turn_out_one(int64_t) { return false; }
inline bool may_turn_out_one(const SymInt& size) {
  return size.is_symbolic() && !has_hint(size) && !known(size != 1);
}

// Which of two sizes of a dimension spreads over the other, being 1.
enum class Spreads : uint8_t { Neither, First, Second };
// As `at::infer_size`, which asks whether a size is 1 first: sizes that data decides are then
// checked when the data is there. fits(truth) is called with what must hold, and throws.
template <SizeType Int, class Fits>
Spreads which_spreads(const Int& first, const Int& second, const Fits& fits) {
  if (known(first == second)) return Spreads::Neither;
  if (is_one(second)) return Spreads::Second;
  if (is_one(first)) return Spreads::First;
  const bool differ = known(first != second);  // so that one is 1, or nothing fits
  if (differ && may_turn_out_one(second)) {
    fits(second == 1);
    return Spreads::Second;
  }
  if (differ && may_turn_out_one(first)) {
    fits(first == 1);
    return Spreads::First;
  }
  fits(first == second);
  return Spreads::Neither;
}

// The shape that both broadcast to. fits(truth, d) is called with what must hold of sizes, and
// throws; d is the dimension of the result.
template <SizeType Int, class Fits>
SizeVector<Int> broadcast_sizes(SizesRef<Int> a, SizesRef<Int> b, const Fits& fits) {
  const SizesRef<Int> longer = a.size() < b.size() ? b : a, shorter = a.size() < b.size() ? a : b;
  SizeVector<Int> result(longer.begin(), longer.end());
  const size_t added = longer.size() - shorter.size();
  for (size_t d = result.size(); d-- > added;) {
    Int& size = result[d];
    const Int& other = shorter[d - added];
    const Spreads spreads = which_spreads(size, other, [&](const auto& truth) { fits(truth, d); });
    // Of two that are equal from now on, the one that is a number.
    const bool is_told = spreads == Spreads::Neither && !any_symbolic(other);
    if (spreads == Spreads::First || is_told) size = other;
  }
  return result;
}
// The same with the error of elementwise operators.
template <SizeType Int>
SizeVector<Int> broadcast_sizes(SizesRef<Int> a, SizesRef<Int> b) {
  const size_t rank = std::max(a.size(), b.size());
  return broadcast_sizes<Int>(a, b, [&](const auto& same, size_t d) {
    SB_CHECK(same, "the size of tensor a (", size_text(a[a.size() + d - rank]),
             ") must match the size of tensor b (", size_text(b[b.size() + d - rank]),
             ") at non-singleton dimension ", d);
  });
}

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_SIZE_LISTS_H_
