// Helpers that operators which rearrange dimensions share.

#ifndef SWITCHBOARD_OPS_SHAPE_DIMS_H_
#define SWITCHBOARD_OPS_SHAPE_DIMS_H_

#include <bitset>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/tensor.h"

namespace sb {

// Sizes or strides under construction.
using DimVector = absl::InlinedVector<int64_t, SizesAndStrides::kInline>;

namespace internal {
[[noreturn, gnu::cold]] void throw_bad_dim(const char* op, int64_t dim, int64_t rank);
[[noreturn, gnu::cold]] void throw_undefined(const char* op);
}  // namespace internal

// `dim` as a non-negative dimension of a tensor of that rank; a tensor of rank 0 has dims -1 and 0.
// Throws IndexError, naming the operator.
inline int64_t wrap_dim(const char* op, int64_t dim, int64_t rank) {
  const int64_t range = rank + (rank == 0);
  if (__builtin_expect(dim < -range || dim >= range, 0)) internal::throw_bad_dim(op, dim, rank);
  return dim < 0 ? dim + range : dim;
}

// The bytes from one index of dimension d to the next. 0 where there is no next one: the stride may
// be any number then, and its bytes may not fit. (In a tensor without elements other strides may be
// any number too; what they wrap to is used for no address.)
inline int64_t byte_stride(const Tensor& t, size_t d) {
  if (t.sizes()[d] <= 1) return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(t.strides()[d]) * t.itemsize());
}

// The dimensions named, as a set. Throws IndexError for one out of range and RuntimeError for one
// named twice.
inline constexpr size_t kMaxDimSet = 64;
using DimSet = std::bitset<kMaxDimSet>;
DimSet dim_set(const char* op, IntArrayRef dims, int64_t rank);

// Throws RuntimeError for an undefined tensor, naming the operator.
inline void check_defined(const char* op, const Tensor& t) {
  if (__builtin_expect(!t.defined(), 0)) internal::throw_undefined(op);
}
// Throws RuntimeError for an argument of another dtype than its operator expects there.
void check_dtype(std::string_view op, const char* argument, const Tensor& t, DType expected);

// "[2, 3]", for messages.
std::string shape_text(IntArrayRef sizes);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_DIMS_H_
