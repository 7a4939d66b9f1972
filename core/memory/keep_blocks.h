// A switch: freed memory is kept for the next use, but for sanitized builds, which should see a use
// after free.

#ifndef SWITCHBOARD_CORE_MEMORY_KEEP_BLOCKS_H_
#define SWITCHBOARD_CORE_MEMORY_KEEP_BLOCKS_H_

namespace sb::internal {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kKeepBlocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool kKeepBlocks = false;
#else
inline constexpr bool kKeepBlocks = true;
#endif
#else
inline constexpr bool kKeepBlocks = true;
#endif

}  // namespace sb::internal

#endif  // SWITCHBOARD_CORE_MEMORY_KEEP_BLOCKS_H_
