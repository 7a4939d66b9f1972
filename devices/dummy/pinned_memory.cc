#include "switchboard/devices/dummy/pinned_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "switchboard/devices/dummy/fork_lock.h"

namespace sb::dummy {
namespace {

struct Block {
  DataPtr memory;
  size_t bytes;
};

// All allocations by address. Never destroyed: tensors may be freed after static destruction.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, std::shared_ptr<const Block>> by_address;
};
Blocks& blocks() {
  static Blocks* const all = [] {
    hold_across_forks<[]() -> std::mutex& { return blocks().mutex; }>();
    return new Blocks;
  }();
  return *all;
}

std::shared_ptr<const Block> find(const void* address) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> lock(blocks().mutex);
  auto after = blocks().by_address.upper_bound(a);
  if (after == blocks().by_address.begin()) return nullptr;
  --after;
  return a - after->first < after->second->bytes ? after->second : nullptr;
}

void free_memory(void* address) {
  std::shared_ptr<const Block> block;  // freed after the lock, unless somebody holds it
  std::lock_guard<std::mutex> lock(blocks().mutex);
  const auto found = blocks().by_address.find(reinterpret_cast<uintptr_t>(address));
  block = std::move(found->second);
  blocks().by_address.erase(found);
}

class PinnedAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    DataPtr memory = get_allocator(DeviceType::CPU)->allocate(bytes);
    if (bytes == 0) return memory;
    void* const address = memory.get();
    auto block = std::make_shared<const Block>(Block{std::move(memory), bytes});
    std::lock_guard<std::mutex> lock(blocks().mutex);
    blocks().by_address.insert_or_assign(reinterpret_cast<uintptr_t>(address), std::move(block));
    return DataPtr(address, address, &free_memory, DeviceType::CPU);
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    if (bytes != 0) std::memcpy(destination, source, bytes);
  }
};

}  // namespace

Allocator& pinned_allocator() {
  static Allocator& allocator = *new PinnedAllocator;  // never destroyed
  return allocator;
}

bool is_pinned(const void* address) { return find(address) != nullptr; }
std::shared_ptr<const void> hold_pinned(const void* address) { return find(address); }

}  // namespace sb::dummy
