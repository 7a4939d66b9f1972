#include "switchboard/core/memory/block_cache.h"

#include <cstdlib>

#include "switchboard/core/memory/keep_blocks.h"

namespace sb::internal {
namespace {

constexpr uint32_t kBlocksKept = 64;  // of each class, by each thread

// Lets the thread keep blocks, and frees them at its end. Apart from the cache, so that using the
// cache needs no check whether it was initialised.
class CacheLifetime {
 public:
  CacheLifetime() {
    for (size_t c = 1; c <= kBlockClasses; ++c) block_cache.room[c] = kBlocksKept;
  }
  ~CacheLifetime() {
    for (size_t c = 1; c <= kBlockClasses; ++c) {
      block_cache.room[c] = 0;
      FreeBlock* block = block_cache.head[c];
      block_cache.head[c] = nullptr;
      while (block) {
        FreeBlock* const next = block->next;
        std::free(block);
        block = next;
      }
    }
  }
};

}  // namespace

constinit thread_local BlockCache block_cache{};

void* allocate_block_slow(size_t bytes) noexcept {
  if (bytes > kBlockUnit * kBlockClasses) return std::malloc(bytes);
  if constexpr (kKeepBlocks) {
    static thread_local CacheLifetime lifetime;
  }
  // Whole units, as the block may come back as one of another size of its class.
  const size_t units = bytes == 0 ? 1 : (bytes + kBlockUnit - 1) / kBlockUnit;
  return std::malloc(units * kBlockUnit);
}

void free_block_slow(void* block, size_t) noexcept { std::free(block); }

}  // namespace sb::internal
