#include "switchboard/core/checked_math.h"

namespace sb {
namespace {

// Of a dimension of one element, whose stride leads to no other: loops still compute with strides
// in bytes, and may add one to an address.
constexpr int64_t kMaxStrideBytes = int64_t{1} << 60;

}  // namespace

int64_t checked_storage_bytes(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
                              int64_t offset, int64_t itemsize) {
  SB_CHECK(sizes.size() == strides.size(), "got ", sizes.size(), " sizes and ", strides.size(),
           " strides");
  SB_CHECK(offset >= 0, "storage offset is negative: ", offset);
  bool empty = false;
  int64_t last = offset;  // the highest place in the storage that an element has
  for (size_t i = 0; i < sizes.size(); ++i) {
    SB_CHECK(sizes[i] >= 0, "a size is negative: ", sizes[i]);
    SB_CHECK(strides[i] >= 0, "a stride is negative: ", strides[i]);
    if (sizes[i] == 0)
      empty = true;
    else
      last = checked_add(last, checked_mul(sizes[i] - 1, strides[i]));
  }
  const int64_t bytes = checked_mul(checked_add(last, 1), itemsize);
  if (empty) return 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    SB_CHECK(sizes[i] > 1 || strides[i] <= kMaxStrideBytes / itemsize,
             "a stride is too large: ", strides[i]);
  return bytes;
}

}  // namespace sb
