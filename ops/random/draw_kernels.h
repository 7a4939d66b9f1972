// Draws of many counters at once, in vector registers.

#ifndef SWITCHBOARD_OPS_RANDOM_DRAW_KERNELS_H_
#define SWITCHBOARD_OPS_RANDOM_DRAW_KERNELS_H_

#include <cstdint>

#include "switchboard/core/philox.h"
#include "switchboard/ops/cpu/cpu_kernel.h"

namespace sb::internal {

// At most so many draws at a time.
inline constexpr int64_t kDraws = 256;

// The n draws of counters first, first + 1, ... of substream 0. Each is a function of the seed and
// its counter alone, with the same bits for every CPU capability: nothing but additions,
// multiplications, divisions and square roots, whose rounding IEEE 754 fixes.
struct DrawKernels {
  // The bits, as philox() gives them.
  void (*blocks)(uint64_t seed, uint64_t first, PhiloxBlock* out, int64_t n);
  // The highest `digits` (at most 53) of the lower 64 bits, as an integer, times `scale`, plus
  // `from`.
  void (*uniform)(uint64_t seed, uint64_t first, int digits, double scale, double from, double* out,
                  int64_t n);
  // The same for at most 32 digits, rounded to float at the end.
  void (*uniform_floats)(uint64_t seed, uint64_t first, int digits, double scale, double from,
                         float* out, int64_t n);
  // By Box and Muller's transform; its other half is not used, so that each element stands alone.
  void (*normal)(uint64_t seed, uint64_t first, double mean, double std, double* out, int64_t n);
  // Four numbers of each block, by the same transform in float: the two halves from the first two
  // words, then from the others. Of the last block as many as n asks for.
  void (*normal_floats)(uint64_t seed, uint64_t first, double mean, double std, float* out,
                        int64_t n);
  // -log of a number of (0, 1].
  void (*exponential)(uint64_t seed, uint64_t first, double* out, int64_t n);
  // Whether the highest 53 of the lower 64 bits, as a number of [0, 1), are less than p.
  void (*chances)(uint64_t seed, uint64_t first, double p, bool* out, int64_t n);
  // The lower 64 bits, modulo `count` unless that is 0, plus `from`.
  void (*integers)(uint64_t seed, uint64_t first, uint64_t count, uint64_t from, int64_t* out,
                   int64_t n);
};
extern const CpuKernel<DrawKernels> draw_kernels;

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_RANDOM_DRAW_KERNELS_H_
