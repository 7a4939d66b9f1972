// Random bits by counting: Philox 4x32 with 10 rounds, of the Random123 library.

#ifndef SWITCHBOARD_CORE_PHILOX_H_
#define SWITCHBOARD_CORE_PHILOX_H_

#include <cstdint>

#include "absl/types/span.h"

namespace sb {

// 128 random bits.
struct PhiloxBlock {
  uint64_t low;
  uint64_t high;
  bool operator==(const PhiloxBlock&) const = default;
};

// The blocks of counters first, first + 1, ... (modulo 2^64), which depend on the seed, the counter
// and the substream alone: whoever computes them, in whatever order, gets the same. Pure.
void philox(uint64_t seed, uint64_t first, uint64_t substream, absl::Span<PhiloxBlock> blocks);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_PHILOX_H_
