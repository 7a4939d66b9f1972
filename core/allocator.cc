#include "switchboard/core/allocator.h"

#include <cstring>

#include "switchboard/core/block_cache.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

constexpr size_t kAlignment = 64;
// No process has more addresses. Also keeps sanitizers, which abort where malloc would return null,
// from ever seeing a size that is only a mistake.
constexpr size_t kMaxBytes = size_t{1} << 47;

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
    if (bytes == 0) return DataPtr(nullptr, DeviceType::CPU);
    SB_CHECK(bytes <= kMaxBytes, "cpu: cannot allocate ", bytes, " bytes");
    void* block = internal::allocate_block(bytes + kAlignment);
    SB_CHECK(block, "cpu: out of memory allocating ", bytes, " bytes");
    const uintptr_t address = (reinterpret_cast<uintptr_t>(block) + kAlignment) & ~(kAlignment - 1);
    void* data = reinterpret_cast<void*>(address);
    *(static_cast<Header*>(data) - 1) = {block, bytes};
    stats().add(bytes);
    return DataPtr(data, data, &CpuAllocator::free, DeviceType::CPU);
  }

  void copy_data(void* destination, const void* source, size_t bytes) override {
    if (bytes != 0) std::memcpy(destination, source, bytes);
  }

 private:
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
  const Header header = *(static_cast<Header*>(data) - 1);
  cpu_allocator.value.stats().remove(header.bytes);
  internal::free_block(header.block, header.bytes + kAlignment);
}

constexpr Allocator* first_allocator(size_t type) {
  if (type == static_cast<size_t>(DeviceType::CPU)) return &cpu_allocator.value;
  if (type == static_cast<size_t>(DeviceType::Meta)) return &meta_allocator.value;
  return nullptr;
}

// Indexed by device type. Reading takes no lock: every `empty` does.
struct Registry {
  template <size_t... types>
  constexpr explicit Registry(std::index_sequence<types...>) : slots{first_allocator(types)...} {}

  std::atomic<Allocator*> slots[kNumDeviceTypes];
};
constinit Registry registry{std::make_index_sequence<kNumDeviceTypes>()};

}  // namespace

void set_allocator(DeviceType type, Allocator* allocator) {
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "set_allocator: unknown device type ", i);
  SB_CHECK_VALUE(allocator || !first_allocator(i), "set_allocator: ", to_string(type),
                 " cannot be without an allocator");
  registry.slots[i].store(allocator, std::memory_order_release);
}

Allocator* find_allocator(DeviceType type) {
  const size_t i = static_cast<size_t>(type);
  return i < kNumDeviceTypes ? registry.slots[i].load(std::memory_order_acquire) : nullptr;
}

Allocator* get_allocator(DeviceType type) {
  Allocator* allocator = find_allocator(type);
  SB_CHECK_NOT_IMPLEMENTED(allocator, to_string(type), ": no allocator is registered");
  return allocator;
}

}  // namespace sb
