// Where in one block of memory can everything lie, so that nothing overlaps while it is needed?

#ifndef SWITCHBOARD_TOOLS_PLAN_ARENA_H_
#define SWITCHBOARD_TOOLS_PLAN_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace sb::plan {

// `bytes` bytes that are needed in the steps [begin, end).
struct ArenaBlock {
  int64_t bytes = 0;
  size_t begin = 0;
  size_t end = 0;
};

struct Arena {
  std::vector<int64_t> offsets;  // one for each block, in their order; a block of 0 bytes lies at 0
  int64_t bytes = 0;             // what the arena must have
  // Blocks count with their sizes rounded up to the alignment.
  int64_t lower_bound = 0;     // the most that is needed in one step: no arena is smaller
  uint64_t without_reuse = 0;  // all blocks together, saturating
};

// Places the blocks, the largest first and of equal ones the longest needed, each at the lowest
// offset where it meets no block that is needed at the same time. Deterministic. Takes time
// quadratic in the number of blocks: about a millisecond for a thousand. Throws ValueError if the
// alignment is no power of two, a size is negative or a block ends before it begins, and
// RuntimeError if int64 cannot hold the arena.
Arena plan_arena(absl::Span<const ArenaBlock> blocks, int64_t alignment = 64);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_ARENA_H_
