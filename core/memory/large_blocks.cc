#include "switchboard/core/memory/large_blocks.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "switchboard/core/memory/keep_blocks.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sb::internal {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMostBlocks = 64;

// Blocks are of a few sizes, so that one serves for results that are about as large: of each power
// of two there are eight. What is never written to costs no memory.
size_t size_class(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

void* new_block(size_t size) {
#if defined(__linux__)
  // Large pages: fewer of them to get, and to find.
  if (size >= 2 * kHugePage) {
    void* block = nullptr;
    if (posix_memalign(&block, kHugePage, size) != 0) return nullptr;
    madvise(block, size, MADV_HUGEPAGE);  // a wish: without it all is slower
    return block;
  }
#endif
  return std::malloc(size);
}

// The blocks that are kept, those freed last at the end.
class KeptBlocks {
 public:
  constexpr KeptBlocks() = default;

  // nullptr when there is none of the size.
  void* take(size_t size) noexcept {
    for (size_t i = count_; i-- > 0;) {
      if (blocks_[i].size != size) continue;
      void* const block = blocks_[i].block;
      remove(i);
      return block;
    }
    return nullptr;
  }
  void keep(void* block, size_t size) noexcept {
    while (count_ == kMostBlocks || bytes_ + size > kMostKept) free_oldest();
    blocks_[count_++] = {block, size};
    bytes_ += size;
  }
  void free_all() noexcept {
    while (count_ > 0) free_oldest();
  }
  size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    void* block;
    size_t size;
  };
  void free_oldest() noexcept {
    std::free(blocks_[0].block);
    remove(0);
  }
  void remove(size_t i) noexcept {
    bytes_ -= blocks_[i].size;
    std::copy(blocks_ + i + 1, blocks_ + count_, blocks_ + i);
    --count_;
  }

  size_t count_ = 0;
  size_t bytes_ = 0;
  Kept blocks_[kMostBlocks] = {};
};

// Neither is ever destroyed: tensors may be freed after static destruction. The mutex is only ever
// tried. Where another thread has it, which the child of a fork may never see it give back, malloc
// serves.
constinit std::mutex mutex;
constinit KeptBlocks kept;

}  // namespace

void* allocate_large_block(size_t bytes) noexcept {
  const size_t size = size_class(bytes);
  if constexpr (kKeepBlocks) {
    if (const std::unique_lock lock(mutex, std::try_to_lock); lock) {
      if (void* const block = kept.take(size)) return block;
    }
  }
  void* block = new_block(size);
  if (kKeepBlocks && !block) {
    // What is kept may be what is missing.
    if (const std::unique_lock lock(mutex, std::try_to_lock); lock) kept.free_all();
    block = new_block(size);
  }
  return block;
}

void free_large_block(void* block, size_t bytes) noexcept {
  const size_t size = size_class(bytes);
  if (kKeepBlocks && size <= kMostKept) {
    if (const std::unique_lock lock(mutex, std::try_to_lock); lock) return kept.keep(block, size);
  }
  std::free(block);
}

size_t kept_bytes() noexcept {
  const std::lock_guard lock(mutex);
  return kept.bytes();
}

}  // namespace sb::internal
