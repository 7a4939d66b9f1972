// The bytes that a bool may have.

#ifndef SWITCHBOARD_IO_SAFETENSORS_BOOL_BYTES_H_
#define SWITCHBOARD_IO_SAFETENSORS_BOOL_BYTES_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"

namespace sb::io {

// Whether all bytes are 0 or 1. A C++ bool of another value is undefined behaviour in every kernel
// that reads it, so files that hold one are refused.
inline bool are_bools(absl::Span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte <= 1; });
}

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_BOOL_BYTES_H_
