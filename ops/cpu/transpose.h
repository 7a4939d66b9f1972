// Copies of transposed matrices, in blocks that use each cache line once.

#ifndef SWITCHBOARD_OPS_CPU_TRANSPOSE_H_
#define SWITCHBOARD_OPS_CPU_TRANSPOSE_H_

#include <array>
#include <cstdint>

#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb {

// Element (r, c) is at from + r * from_stride + c * itemsize, and goes to
// to + c * to_stride + r * itemsize. Strides are in bytes; the two do not overlap.
struct Transposition {
  char* to;
  int64_t to_stride;
  const char* from;
  int64_t from_stride;
  int64_t rows;
  int64_t columns;
  // Past the caches, for what does not fit them. `to` and `to_stride` are multiples of 64.
  bool stream;
};

// For elements of 1, 2, 4, 8 and 16 bytes.
using TransposeTable = std::array<void (*)(const Transposition&), 5>;
extern const CpuKernel<TransposeTable> transpose_kernel;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_TRANSPOSE_H_
