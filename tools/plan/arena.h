// Where in one block of memory can everything lie, so that nothing overlaps while it is needed?

#ifndef SWITCHBOARD_TOOLS_PLAN_ARENA_H_
#define SWITCHBOARD_TOOLS_PLAN_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/tools/plan/count.h"

namespace sb::plan {

// `bytes` bytes that are needed in the steps [begin, end).
template <class Int>
struct BasicArenaBlock {
  Int bytes = 0;
  size_t begin = 0;
  size_t end = 0;
};

template <class Int>
struct BasicArena {
  std::vector<Int> offsets;  // one for each block, in their order; a block of 0 bytes lies at 0
  Int bytes = 0;             // what the arena must have
  // Blocks count with their sizes rounded up to the alignment.
  Int lower_bound = 0;  // the most that is needed in one step: no arena is smaller
  Count without_reuse;  // all blocks together, saturating
};

using ArenaBlock = BasicArenaBlock<int64_t>;
using Arena = BasicArena<int64_t>;
// Of sizes that are expressions.
using SymArenaBlock = BasicArenaBlock<SymInt>;
using SymArena = BasicArena<SymInt>;

// Places the blocks, the largest first and of equal ones the longest needed, each at the lowest
// offset where it meets no block that is needed at the same time. Deterministic. Takes time
// quadratic in the number of blocks: about a millisecond for a thousand. Throws ValueError if the
// alignment is no power of two, a size is negative or a block ends before it begins, and
// RuntimeError if int64 cannot hold the arena.
Arena plan_arena(absl::Span<const ArenaBlock> blocks, int64_t alignment = 64);

// The same in expressions, in one layout that is right for all values that the symbols may have:
// nothing overlaps for any of them. Blocks are placed in the order of their sizes at hand. A block
// goes below another only where it fits for sure, and above it otherwise, so that at some values
// the arena is larger than what plan_arena() gives for these numbers; `lower_bound` is the same.
// Bytes that are expressions are at least 1.
SymArena plan_symbolic_arena(absl::Span<const SymArenaBlock> blocks, int64_t alignment = 64);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_ARENA_H_
