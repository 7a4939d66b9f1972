// Memory for what every operator makes and frees: tensors, storages and small data.
//
// Each thread keeps the blocks that it freed last, so that making a tensor costs a few instructions
// where malloc and free cost a hundred and more. A block may be freed by another thread than made
// it. Sanitized builds keep nothing, so that a use after free is seen.

#ifndef SWITCHBOARD_CORE_MEMORY_BLOCK_CACHE_H_
#define SWITCHBOARD_CORE_MEMORY_BLOCK_CACHE_H_

#include <cstddef>
#include <cstdint>

namespace sb::internal {

inline constexpr size_t kBlockUnit = 64;
inline constexpr size_t kBlockClasses = 8;  // blocks of 64, 128, ... 512 bytes are kept

struct FreeBlock {
  FreeBlock* next;
};

// Zero at first and after the thread's end: then nothing is kept, and the slow functions run.
struct BlockCache {
  FreeBlock* head[kBlockClasses + 1];
  uint32_t room[kBlockClasses + 1];  // how many more blocks may be kept
};
extern constinit thread_local BlockCache block_cache;

void* allocate_block_slow(size_t bytes) noexcept;
void free_block_slow(void* block, size_t bytes) noexcept;

// A block that the thread kept, for allocate_block(bytes) to give; nullptr when there is none.
inline void* take_kept_block(size_t bytes) noexcept {
  const size_t c = (bytes + kBlockUnit - 1) / kBlockUnit;
  BlockCache& cache = block_cache;
  if (__builtin_expect(bytes > kBlockUnit * kBlockClasses || !cache.head[c], 0)) return nullptr;
  FreeBlock* const block = cache.head[c];
  cache.head[c] = block->next;
  ++cache.room[c];
  return block;
}

// At least `bytes` bytes, aligned as malloc's; nullptr when there are none.
inline void* allocate_block(size_t bytes) noexcept {
  void* const kept = take_kept_block(bytes);
  return __builtin_expect(kept != nullptr, 1) ? kept : allocate_block_slow(bytes);
}

// Takes back what allocate_block(bytes) gave.
inline void free_block(void* block, size_t bytes) noexcept {
  const size_t c = (bytes + kBlockUnit - 1) / kBlockUnit;
  BlockCache& cache = block_cache;
  if (__builtin_expect(bytes > kBlockUnit * kBlockClasses || cache.room[c] == 0, 0)) {
    free_block_slow(block, bytes);
    return;
  }
  --cache.room[c];
  FreeBlock* const free = static_cast<FreeBlock*>(block);
  free->next = cache.head[c];
  cache.head[c] = free;
}

}  // namespace sb::internal

#endif  // SWITCHBOARD_CORE_MEMORY_BLOCK_CACHE_H_
