#include "switchboard/tools/plan/arena.h"

#include <algorithm>
#include <numeric>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/tools/plan/saturating.h"

namespace sb::plan {
namespace {

struct Placed {
  int64_t offset;
  int64_t end_offset;
  size_t begin, end;  // steps
};

int64_t round_up(int64_t bytes, int64_t alignment) {
  return checked_add(bytes, alignment - 1) & ~(alignment - 1);
}

// The lowest offset at which `block`, of so many bytes, overlaps nothing of `placed`, which is in
// the order of offsets.
int64_t lowest_offset(const std::vector<Placed>& placed, const ArenaBlock& block, int64_t bytes) {
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (other.begin >= block.end || block.begin >= other.end) continue;
    if (other.offset - offset >= bytes) break;
    offset = std::max(offset, other.end_offset);
  }
  return offset;
}

// The most bytes in one step.
int64_t most_at_once(absl::Span<const ArenaBlock> blocks, const std::vector<int64_t>& bytes) {
  struct Change {
    size_t step;
    int64_t bytes;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    changes.push_back({blocks[i].begin, bytes[i]});
    changes.push_back({blocks[i].end, -bytes[i]});
  }
  // What ends at a step makes room before something begins there.
  std::ranges::sort(changes, {}, [](const Change& c) { return std::pair(c.step, c.bytes); });
  int64_t now = 0, most = 0;
  for (const Change& change : changes) most = std::max(most, now = checked_add(now, change.bytes));
  return most;
}

}  // namespace

Arena plan_arena(absl::Span<const ArenaBlock> blocks, int64_t alignment) {
  SB_CHECK_VALUE(alignment > 0 && (alignment & (alignment - 1)) == 0,
                 "plan_arena: alignment: expected a power of two, got ", alignment);
  Arena arena;
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ArenaBlock& block = blocks[i];
    SB_CHECK_VALUE(block.bytes >= 0 && block.begin < block.end, "plan_arena: block ", i, ": ",
                   block.bytes, " bytes in the steps [", block.begin, ", ", block.end, ")");
    bytes.push_back(round_up(block.bytes, alignment));
    arena.without_reuse = saturating_add(arena.without_reuse, bytes.back());
  }
  arena.lower_bound = most_at_once(blocks, bytes);

  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) {
    return std::pair(bytes[i], blocks[i].end - blocks[i].begin);
  });
  arena.offsets.resize(blocks.size(), 0);
  std::vector<Placed> placed;
  for (const size_t i : order) {
    if (bytes[i] == 0) break;  // so are all that follow
    const int64_t offset = lowest_offset(placed, blocks[i], bytes[i]);
    const Placed here = {offset, checked_add(offset, bytes[i]), blocks[i].begin, blocks[i].end};
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Placed::offset), here);
    arena.offsets[i] = offset;
    arena.bytes = std::max(arena.bytes, here.end_offset);
  }
  return arena;
}

}  // namespace sb::plan
