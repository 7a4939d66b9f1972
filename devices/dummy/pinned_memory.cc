#include "switchboard/devices/dummy/pinned_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "switchboard/devices/dummy/fork_lock.h"

namespace sb::dummy {
namespace {

struct PinnedBlock {
  DataPtr memory;
  size_t bytes;
};

// All allocations by address. Never destroyed: tensors may be freed after static destruction.
struct PinnedBlocks {
  std::mutex mutex;
  std::map<uintptr_t, std::shared_ptr<const PinnedBlock>> by_address;
};
PinnedBlocks& pinned_blocks() {
  static PinnedBlocks* const all = [] {
    hold_across_forks<[]() -> std::mutex& { return pinned_blocks().mutex; }>();
    return new PinnedBlocks;
  }();
  return *all;
}

std::shared_ptr<const PinnedBlock> find_pinned(const void* address) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> lock(pinned_blocks().mutex);
  auto after = pinned_blocks().by_address.upper_bound(a);
  if (after == pinned_blocks().by_address.begin()) return nullptr;
  --after;
  return a - after->first < after->second->bytes ? after->second : nullptr;
}

void free_pinned(void* address) {
  std::shared_ptr<const PinnedBlock> block;  // freed after the lock, unless somebody holds it
  std::lock_guard<std::mutex> lock(pinned_blocks().mutex);
  const auto found = pinned_blocks().by_address.find(reinterpret_cast<uintptr_t>(address));
  block = std::move(found->second);
  pinned_blocks().by_address.erase(found);
}

class PinnedAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    DataPtr memory = get_allocator(DeviceType::CPU)->allocate(bytes);
    if (bytes == 0) return memory;
    void* const address = memory.get();
    auto block = std::make_shared<const PinnedBlock>(PinnedBlock{std::move(memory), bytes});
    std::lock_guard<std::mutex> lock(pinned_blocks().mutex);
    pinned_blocks().by_address.insert_or_assign(reinterpret_cast<uintptr_t>(address),
                                                std::move(block));
    return DataPtr(address, address, &free_pinned, DeviceType::CPU);
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

bool is_pinned(const void* address) { return find_pinned(address) != nullptr; }
std::shared_ptr<const void> hold_pinned(const void* address) { return find_pinned(address); }

}  // namespace sb::dummy
