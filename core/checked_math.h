// Size arithmetic that cannot overflow in silence.

#ifndef SWITCHBOARD_CORE_CHECKED_MATH_H_
#define SWITCHBOARD_CORE_CHECKED_MATH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "switchboard/core/error.h"

namespace sb {

// The product and the sum; throw RuntimeError when int64 cannot hold them.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t result;
  SB_CHECK(!__builtin_mul_overflow(a, b, &result), "size overflow: ", a, " * ", b,
           " does not fit int64");
  return result;
}
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t result;
  SB_CHECK(!__builtin_add_overflow(a, b, &result), "size overflow: ", a, " + ", b,
           " does not fit int64");
  return result;
}

// The number of elements of such a shape. Throws RuntimeError on a negative size or on overflow.
inline int64_t checked_numel(absl::Span<const int64_t> sizes) {
  int64_t n = 1;
  bool empty = false;
  for (int64_t s : sizes) {
    SB_CHECK(s >= 0, "a size is negative: ", s);
    if (s == 0)
      empty = true;
    else
      n = checked_mul(n, s);
  }
  return empty ? 0 : n;
}

// Bytes that a storage needs to hold a view of these sizes and strides (in elements of `itemsize`
// bytes) at `offset`. 0 where the view has no element. Throws RuntimeError on negative sizes,
// strides or offset, on overflow, and for a dimension of one element whose stride is more than 2^60
// bytes.
int64_t checked_storage_bytes(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
                              int64_t offset, int64_t itemsize);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_CHECKED_MATH_H_
