#include "switchboard/core/memory/large_blocks.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/memory/keep_blocks.h"

namespace sb::internal {
namespace {

TEST_CASE("a large block that was freed is given again, for about as many bytes", "[core]") {
  void* const block = allocate_large_block(5'000'000);
  REQUIRE(block);
  std::memset(block, 1, 5'000'000);
  free_large_block(block, 5'000'000);
  void* const again = allocate_large_block(4'990'000);
  CHECK((again == block || !kKeepBlocks));  // a sanitizer's malloc does as it likes
  void* const much_larger = allocate_large_block(9'000'000);
  CHECK(much_larger != block);
  free_large_block(again, 4'990'000);
  free_large_block(much_larger, 9'000'000);
}

TEST_CASE("every byte of a block can be written to", "[core]") {
  for (size_t bytes : {kLargeBlock, kLargeBlock + 1, size_t{1'000'003}, size_t{4'194'304},
                       size_t{4'194'305}, size_t{33'554'433}}) {
    for (int round = 0; round < 2; ++round) {
      char* const block = static_cast<char*>(allocate_large_block(bytes));
      REQUIRE(block);
      std::memset(block, round, bytes);
      free_large_block(block, bytes);
    }
  }
}

TEST_CASE("no more bytes are kept than the limit", "[core]") {
  std::vector<void*> blocks;
  for (size_t i = 0; i < 200; ++i) blocks.push_back(allocate_large_block(4'000'000 + i * 8192));
  for (size_t i = 0; i < 200; ++i) {
    free_large_block(blocks[i], 4'000'000 + i * 8192);
    CHECK(kept_bytes() <= kMostKept);
  }
  void* const huge = allocate_large_block(kMostKept + 1);
  const size_t before = kept_bytes();
  free_large_block(huge, kMostKept + 1);
  CHECK(kept_bytes() == before);
}

TEST_CASE("several threads make and free large blocks, also each other's", "[core]") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = kLargeBlock << (i % 4);
        char* const block = static_cast<char*>(allocate_large_block(bytes));
        block[0] = block[bytes - 1] = static_cast<char>(t);
        std::this_thread::yield();
        if (block[0] != t || block[bytes - 1] != t) std::abort();
        free_large_block(block, bytes);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace sb::internal
