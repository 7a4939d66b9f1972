#include "switchboard/core/memory/allocator.h"

#include <cstdlib>
#include <cstring>

#include "switchboard/core/error.h"
#include "switchboard/core/memory/block_cache.h"
#include "switchboard/core/memory/keep_blocks.h"
#include "switchboard/core/memory/large_blocks.h"

// Of AddressSanitizer's runtime, where there is one.
extern "C" [[gnu::weak]] void __asan_poison_memory_region(const volatile void*, size_t);
extern "C" [[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, size_t);

namespace sb {
namespace {

constexpr size_t kAlignment = 64;
// No process has more addresses. Also keeps sanitizers, which abort where malloc would return null,
// from ever seeing a size that is only a mistake.
constexpr size_t kMaxBytes = size_t{1} << 47;
// What fits a block that threads keep.
constexpr size_t kSmallBytes = internal::kBlockUnit * internal::kBlockClasses - kAlignment;

// Stands directly before the memory that a caller gets.
struct Header {
  void* block;  // what the memory is a part of
  size_t bytes;
};
static_assert(sizeof(Header) <= alignof(std::max_align_t),
              "malloc's own alignment leaves room for a header below any aligned address");

// Aligns by hand: posix_memalign costs several times as much as malloc.
class CpuAllocator final : public Allocator {
 public:
  constexpr CpuAllocator() = default;

  DataPtr allocate(size_t bytes) override {
    // One test for nothing and for much: 0 - 1 is much, too.
    if (bytes - 1 >= kSmallBytes) [[unlikely]]
      return allocate_any(bytes);
    void* const block = internal::take_kept_block(bytes + kAlignment);
    if (!block) [[unlikely]]
      return allocate_any(bytes);
    return data_in(block, bytes);
  }

  void copy_data(void* destination, const void* source, size_t bytes) override {
    if (bytes != 0) std::memcpy(destination, source, bytes);
  }

 private:
  // Apart, so that the usual allocation saves no register.
  [[gnu::noinline]] DataPtr allocate_any(size_t bytes) {
    if (bytes == 0) return DataPtr(nullptr, DeviceType::CPU);
    SB_CHECK(bytes <= kMaxBytes, "cpu: cannot allocate ", bytes, " bytes");
    const size_t block_bytes = bytes + kAlignment;
    if constexpr (!internal::kKeepBlocks) return allocate_exactly(block_bytes);
    void* const block = block_bytes >= internal::kLargeBlock
                            ? internal::allocate_large_block(block_bytes)
                            : internal::allocate_block(block_bytes);
    SB_CHECK(block, "cpu: out of memory allocating ", bytes, " bytes");
    return data_in(block, bytes);
  }
  // For a sanitizer, to which what is left of a block would be memory like any other: nothing lies
  // behind the caller's memory, and what lies before it is forbidden.
  DataPtr allocate_exactly(size_t block_bytes) {
    void* block = nullptr;
    const int error = posix_memalign(&block, kAlignment, block_bytes);
    SB_CHECK(error == 0, "cpu: out of memory allocating ", block_bytes - kAlignment, " bytes");
    DataPtr data = data_in(block, block_bytes - kAlignment);
    if (__asan_poison_memory_region) __asan_poison_memory_region(block, kAlignment);
    return data;
  }
  // `bytes` bytes in a block of kAlignment bytes more.
  DataPtr data_in(void* block, size_t bytes) {
    const uintptr_t address = (reinterpret_cast<uintptr_t>(block) + kAlignment) & ~(kAlignment - 1);
    void* data = reinterpret_cast<void*>(address);
    *(static_cast<Header*>(data) - 1) = {block, bytes};
    stats().add(bytes);
    return DataPtr(data, data, &CpuAllocator::free, DeviceType::CPU);
  }
  static void free(void* data);
};

// Gives out no memory, of any size.
class MetaAllocator final : public Allocator {
 public:
  constexpr MetaAllocator() = default;
  DataPtr allocate(size_t) override { return DataPtr(nullptr, DeviceType::Meta); }
  void copy_data(void*, const void*, size_t) override {}
};

// Never destroyed: tensors may be freed after static destruction.
template <class T>
union Immortal {
  T value;
  constexpr Immortal() : value() {}
  ~Immortal() {}
};
constinit Immortal<CpuAllocator> cpu_allocator;
constinit Immortal<MetaAllocator> meta_allocator;

void CpuAllocator::free(void* data) {
  if (!internal::kKeepBlocks && __asan_unpoison_memory_region)
    __asan_unpoison_memory_region(static_cast<char*>(data) - kAlignment, kAlignment);
  const Header header = *(static_cast<Header*>(data) - 1);
  cpu_allocator.value.stats().remove(header.bytes);
  const size_t block_bytes = header.bytes + kAlignment;
  if (block_bytes >= internal::kLargeBlock) [[unlikely]]
    return internal::free_large_block(header.block, block_bytes);
  internal::free_block(header.block, block_bytes);
}

constexpr Allocator* first_allocator(size_t type) {
  if (type == static_cast<size_t>(DeviceType::CPU)) return &cpu_allocator.value;
  if (type == static_cast<size_t>(DeviceType::Meta)) return &meta_allocator.value;
  return nullptr;
}

template <size_t... types>
constexpr internal::AllocatorRegistry first_registry(std::index_sequence<types...>) {
  return {{first_allocator(types)...}};
}

}  // namespace

namespace internal {
constinit AllocatorRegistry allocator_registry =
    first_registry(std::make_index_sequence<kNumDeviceTypes>());

void throw_no_allocator(DeviceType type) {
  SB_THROW(NotImplementedError, to_string(type), ": no allocator is registered");
}
}  // namespace internal

void set_allocator(DeviceType type, Allocator* allocator) {
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "set_allocator: unknown device type ", i);
  SB_CHECK_VALUE(allocator || !first_allocator(i), "set_allocator: ", to_string(type),
                 " cannot be without an allocator");
  internal::allocator_registry.slots[i].store(allocator, std::memory_order_release);
}

}  // namespace sb
