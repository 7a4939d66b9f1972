// The bytes that a tensor's elements take up, as few contiguous ranges.

#ifndef SWITCHBOARD_DEVICES_STRIDED_RANGES_H_
#define SWITCHBOARD_DEVICES_STRIDED_RANGES_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"

namespace sb {

// A part of a storage, in bytes.
struct ByteRange {
  size_t begin;
  size_t size;
};

// Calls f with ranges of the tensor's storage, a limited number at a time, which together cover the
// elements and nothing else. One range where the elements lie without gaps.
void for_each_range(const Tensor& tensor, absl::FunctionRef<void(absl::Span<const ByteRange>)> f);

}  // namespace sb

#endif  // SWITCHBOARD_DEVICES_STRIDED_RANGES_H_
