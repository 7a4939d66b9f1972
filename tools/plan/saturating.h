// Sums and products that stop at the largest number instead of wrapping.

#ifndef SWITCHBOARD_TOOLS_PLAN_SATURATING_H_
#define SWITCHBOARD_TOOLS_PLAN_SATURATING_H_

#include <cstdint>

namespace sb::plan {

// What a count of FLOPs or bytes moved shows when there are more than uint64 holds. Sizes of fake
// tensors are anything that fits int64, and a product of three of them is no error: nobody
// allocates it.
inline constexpr uint64_t kSaturated = UINT64_MAX;

inline uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kSaturated : sum;
}

// The product of any number of factors; 0 if one of them is 0, however large the others are.
template <class... Factors>
uint64_t saturating_mul(Factors... factors) {
  bool zero = false;
  uint64_t product = 1;
  const auto times = [&](uint64_t factor) {
    zero |= factor == 0;
    if (__builtin_mul_overflow(product, factor, &product)) product = kSaturated;
  };
  (times(static_cast<uint64_t>(factors)), ...);
  return zero ? 0 : product;
}

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_SATURATING_H_
