// Elements of any dtype, as bytes: from one after another to their places in a storage, and back.

#ifndef SWITCHBOARD_IO_SAFETENSORS_STRIDED_BYTES_H_
#define SWITCHBOARD_IO_SAFETENSORS_STRIDED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace sb::io {

// Where a tensor's elements are in memory. Sizes and strides are not negative.
struct StridedElements {
  absl::Span<const int64_t> sizes;
  absl::Span<const int64_t> strides;  // in elements
  int64_t offset = 0;                 // of the first, in elements
  size_t itemsize = 1;                // 1, 2, 4, 8 or 16
};

// The strides of a tensor of these sizes whose elements are one after another.
std::vector<int64_t> contiguous_strides(absl::Span<const int64_t> sizes);

// Copies elements, given row by row, to their places in `memory`. Where two have one place, the
// later one stays.
void scatter(const StridedElements& elements, const char* rows, char* memory);
// Whether each place holds the element that `rows` has for it.
bool are_scattered(const StridedElements& elements, const char* rows, const char* memory);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_STRIDED_BYTES_H_
