// Memory for large tensors.
//
// A page that the system gives costs many times as much as writing to it, and malloc gives large
// blocks back to the system as soon as they are freed. So the process keeps the large blocks that
// it freed last, up to kMostKept bytes, and the next results are written to memory that it has. A
// block may be freed by another thread than made it. Sanitized builds keep nothing, so that a use
// after free is seen.

#ifndef SWITCHBOARD_CORE_MEMORY_LARGE_BLOCKS_H_
#define SWITCHBOARD_CORE_MEMORY_LARGE_BLOCKS_H_

#include <cstddef>

namespace sb::internal {

// From this size on malloc may give memory back when a block is freed.
inline constexpr size_t kLargeBlock = size_t{64} << 10;
// The process keeps at most this much memory beyond what is in use.
inline constexpr size_t kMostKept = size_t{256} << 20;

// At least `bytes` bytes, aligned as malloc's; nullptr when there are none. `bytes` is at least
// kLargeBlock. Thread-safe.
void* allocate_large_block(size_t bytes) noexcept;

// Takes back what allocate_large_block(bytes) gave. Thread-safe.
void free_large_block(void* block, size_t bytes) noexcept;

// The bytes that are kept now.
size_t kept_bytes() noexcept;

}  // namespace sb::internal

#endif  // SWITCHBOARD_CORE_MEMORY_LARGE_BLOCKS_H_
