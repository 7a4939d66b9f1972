#include "switchboard/tools/plan/arena.h"

#include <random>
#include <string>
#include <utility>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb::plan {
namespace {

using Catch::Contains;

// By brute force: no two blocks that are needed in one step have a byte in common, and all lie on
// the alignment and within the arena.
void check_placement(const std::vector<ArenaBlock>& blocks, const Arena& arena, int64_t alignment) {
  REQUIRE(arena.offsets.size() == blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    REQUIRE(arena.offsets[i] >= 0);
    REQUIRE(arena.offsets[i] % alignment == 0);
    REQUIRE(arena.offsets[i] + blocks[i].bytes <= arena.bytes);
    for (size_t k = 0; k < i; ++k) {
      const bool together = blocks[i].begin < blocks[k].end && blocks[k].begin < blocks[i].end;
      const bool overlap = arena.offsets[i] < arena.offsets[k] + blocks[k].bytes &&
                           arena.offsets[k] < arena.offsets[i] + blocks[i].bytes;
      REQUIRE_FALSE((together && overlap));
    }
  }
}

TEST_CASE("blocks that are needed at one time never overlap", "[plan]") {
  std::mt19937 random(20240517);
  const auto below = [&](size_t n) { return random() % n; };
  for (int round = 0; round < 60; ++round) {
    const int64_t alignment = int64_t{1} << below(8);
    std::vector<ArenaBlock> blocks(below(120));
    for (ArenaBlock& block : blocks) {
      block.begin = below(40);
      block.end = block.begin + 1 + below(12);
      block.bytes = static_cast<int64_t>(below(5) == 0 ? 0 : below(5000));
    }
    const Arena arena = plan_arena(blocks, alignment);
    check_placement(blocks, arena, alignment);
    // The bound by brute force.
    int64_t most = 0;
    for (size_t step = 0; step < 60; ++step) {
      int64_t now = 0;
      for (const ArenaBlock& block : blocks)
        if (block.begin <= step && step < block.end)
          now += (block.bytes + alignment - 1) / alignment * alignment;
      most = std::max(most, now);
    }
    CHECK(arena.lower_bound == most);
    CHECK(arena.bytes >= most);
    CHECK(static_cast<uint64_t>(arena.bytes) <= arena.without_reuse.number());
  }
}

TEST_CASE("a block takes the place of one that is gone, and begins on the alignment", "[plan]") {
  const Arena arena = plan_arena(std::vector<ArenaBlock>{{100, 0, 2}, {60, 1, 3}, {128, 2, 4}});
  CHECK(arena.offsets == std::vector<int64_t>{0, 128, 0});
  CHECK(arena.bytes == 192);
  CHECK(arena.lower_bound == 192);
  CHECK(arena.without_reuse == 128 + 64 + 128);
}

TEST_CASE("an arena that int64 cannot address is refused, and a sum of sizes saturates", "[plan]") {
  const std::vector<ArenaBlock> together = {{INT64_MAX - 100, 0, 2}, {1000, 1, 3}};
  CHECK_THROWS_WITH(plan_arena(together), Contains("does not fit int64"));
  CHECK_THROWS_WITH(plan_arena(std::vector<ArenaBlock>{{INT64_MAX, 0, 1}}),
                    Contains("does not fit int64"));
  const ArenaBlock huge{INT64_MAX - 100, 0, 1};
  const Arena arena =
      plan_arena(std::vector<ArenaBlock>{huge, {huge.bytes, 1, 2}, {huge.bytes, 2, 3}});
  CHECK(arena.without_reuse == kSaturated);
  CHECK(arena.bytes == arena.lower_bound);
}

TEST_CASE("one layout in expressions is right for all values of the symbols", "[plan]") {
  const auto env = ShapeEnv::create({.specialize_zero_one = false, .duck_shape = false});
  const SymInt a = env->create_symint(8, "a", DimDynamic::Dynamic, 1, 300);
  const SymInt b = env->create_symint(40, "b", DimDynamic::Dynamic, 1, 300);
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 20; ++round) {
    std::vector<SymArenaBlock> blocks(1 + static_cast<size_t>(below(30)));
    for (SymArenaBlock& block : blocks) {
      block.begin = static_cast<size_t>(below(15));
      block.end = block.begin + 1 + static_cast<size_t>(below(5));
      block.bytes = a * below(9) + b * below(9) + a * b * below(3) + 1;
    }
    const SymArena arena = plan_symbolic_arena(blocks);
    for (int i = 0; i < 20; ++i) {
      const std::vector<std::pair<std::string, int64_t>> sizes = {{"a", 1 + below(300)},
                                                                  {"b", 1 + below(300)}};
      const auto at = [&](const SymInt& number) { return *env->evaluate(number, sizes); };
      std::vector<ArenaBlock> numbers;
      Arena there;
      for (size_t k = 0; k < blocks.size(); ++k) {
        numbers.push_back({at(blocks[k].bytes), blocks[k].begin, blocks[k].end});
        there.offsets.push_back(at(arena.offsets[k]));
      }
      there.bytes = at(arena.bytes);
      check_placement(numbers, there, 64);
      CHECK(at(arena.lower_bound) == plan_arena(numbers).lower_bound);
    }
  }
  CHECK(env->guards().empty());
}

TEST_CASE("what is no alignment or no block is refused", "[plan]") {
  const ArenaBlock block{1, 0, 1};
  CHECK_THROWS_WITH(plan_arena({block}, 48),
                    "plan_arena: alignment: expected a power of two, got 48");
  CHECK_THROWS_AS(plan_arena({block}, 0), ValueError);
  CHECK_THROWS_WITH(plan_arena({block, {1, 2, 2}}),
                    "plan_arena: block 1: 1 bytes in the steps [2, 2)");
  CHECK_THROWS_AS(plan_arena({{-1, 0, 1}}), ValueError);
}

}  // namespace
}  // namespace sb::plan
