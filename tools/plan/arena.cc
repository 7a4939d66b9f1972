#include "switchboard/tools/plan/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/tools/plan/expression_order.h"

namespace sb::plan {
namespace {

template <class Int>
struct Placed {
  Int offset;
  Int end_offset;
  int64_t offset_at_hand;
  size_t begin, end;  // steps
};

// Numbers and expressions, by the order that knows them.
template <class Int, class Order>
class Layout {
 public:
  Layout(Order& order, int64_t alignment) : order_(order), alignment_(alignment) {}

  BasicArena<Int> place(absl::Span<const BasicArenaBlock<Int>> blocks) {
    BasicArena<Int> arena;
    std::vector<Int> bytes;
    for (const BasicArenaBlock<Int>& block : blocks) {
      bytes.push_back(round_up(block.bytes));
      arena.without_reuse += bytes.back();
    }
    arena.lower_bound = most_at_once(blocks, bytes);

    std::vector<size_t> by_size(blocks.size());
    std::iota(by_size.begin(), by_size.end(), size_t{0});
    std::ranges::stable_sort(by_size, std::greater<>(), [&](size_t i) {
      return std::pair(at_hand(bytes[i]), blocks[i].end - blocks[i].begin);
    });
    arena.offsets.resize(blocks.size(), 0);
    for (const size_t i : by_size) {
      if (at_hand(bytes[i]) == 0) break;  // so are all that follow
      const Int offset = lowest_offset(blocks[i], bytes[i]);
      const Placed<Int> here = {offset, order_.sum(offset, bytes[i]), at_hand(offset),
                                blocks[i].begin, blocks[i].end};
      placed_.insert(
          std::ranges::upper_bound(placed_, here.offset_at_hand, {}, &Placed<Int>::offset_at_hand),
          here);
      arena.offsets[i] = offset;
      arena.bytes = order_.larger(arena.bytes, here.end_offset);
    }
    return arena;
  }

 private:
  static int64_t at_hand(const Int& number) { return hint(number).value_or(0); }

  Int round_up(const Int& bytes) {
    return order_.sum(bytes, alignment_ - 1) / Int(alignment_) * Int(alignment_);
  }

  // The lowest offset at which `block`, of so many bytes, overlaps nothing that is placed.
  Int lowest_offset(const BasicArenaBlock<Int>& block, const Int& bytes) {
    const auto meets = [&](const Placed<Int>& other) {
      return other.begin < block.end && block.begin < other.end;
    };
    const auto is_below = [&](const Int& offset, const Placed<Int>& other) {
      return order_.at_least(other.offset, order_.sum(offset, bytes));
    };
    Int offset = 0;
    for (const Placed<Int>& other : placed_)
      if (meets(other) && !is_below(offset, other))
        offset = order_.larger(offset, other.end_offset);
    // Of numbers the gap that was found is one. Expressions have no order in which all others that
    // it is below come last.
    const auto is_apart = [&](const Placed<Int>& other) {
      return !meets(other) || order_.at_least(offset, other.end_offset) || is_below(offset, other);
    };
    if (std::ranges::all_of(placed_, is_apart)) return offset;
    for (const Placed<Int>& other : placed_)
      if (meets(other)) offset = order_.larger(offset, other.end_offset);
    return offset;
  }

  // The most bytes in one step.
  Int most_at_once(absl::Span<const BasicArenaBlock<Int>> blocks, const std::vector<Int>& bytes) {
    struct Change {
      Int begins = 0, ends = 0;
    };
    std::map<size_t, Change> changes;
    for (size_t i = 0; i < blocks.size(); ++i) {
      Change& first = changes[blocks[i].begin];
      first.begins = order_.sum(first.begins, bytes[i]);
      Change& last = changes[blocks[i].end];
      last.ends = order_.sum(last.ends, bytes[i]);
    }
    Int now = 0;
    std::vector<Int> sums;
    for (const auto& [step, change] : changes)
      sums.push_back(now = order_.sum(now - change.ends, change.begins));
    return order_.largest(sums);
  }

  Order& order_;
  const int64_t alignment_;
  std::vector<Placed<Int>> placed_;  // in the order of the offsets at hand
};

template <class Int, class Order>
BasicArena<Int> place_all(absl::Span<const BasicArenaBlock<Int>> blocks, int64_t alignment,
                          Order order) {
  SB_CHECK_VALUE(alignment > 0 && (alignment & (alignment - 1)) == 0,
                 "plan_arena: alignment: expected a power of two, got ", alignment);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const BasicArenaBlock<Int>& block = blocks[i];
    const bool negative = hint(block.bytes).value_or(0) < 0;
    SB_CHECK_VALUE(!negative && block.begin < block.end, "plan_arena: block ", i, ": ",
                   SymInt(block.bytes).to_string(), " bytes in the steps [", block.begin, ", ",
                   block.end, ")");
  }
  return Layout<Int, Order>(order, alignment).place(blocks);
}

}  // namespace

Arena plan_arena(absl::Span<const ArenaBlock> blocks, int64_t alignment) {
  return place_all(blocks, alignment, NumberOrder());
}

SymArena plan_symbolic_arena(absl::Span<const SymArenaBlock> blocks, int64_t alignment) {
  return place_all(blocks, alignment, ExpressionOrder());
}

}  // namespace sb::plan
