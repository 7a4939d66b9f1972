#include "switchboard/devices/dummy/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/fork_lock.h"
#include "switchboard/devices/dummy/streams.h"

namespace sb::dummy {
namespace internal {

// One allocation.
struct Block {
  uintptr_t address;
  size_t bytes;   // as asked for
  size_t mapped;  // in whole pages
  AllocationStats* stats;
  AllocationStats* total;
  int8_t device;
  int open = 0;        // Unlock scopes
  int held = 0;        // Hold objects
  bool freed = false;  // while it was open or held
};

}  // namespace internal

namespace {

using internal::Block;

// All allocations by address. Never destroyed: tensors may be freed after static destruction.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, Block> by_address;
  bool sealing = [] {
    const char* const wish = std::getenv("SB_DUMMY_SEALED");
    return !(wish && std::string_view(wish) == "0");
  }();
};
Blocks& blocks() {
  static Blocks* const all = [] {
    hold_across_forks<[]() -> std::mutex& { return blocks().mutex; }>();
    return new Blocks;
  }();
  return *all;
}

constexpr int kOpen = PROT_READ | PROT_WRITE;

// Whether the system did it.
bool protect(const Block& block, int protection) {
  return mprotect(reinterpret_cast<void*>(block.address), block.mapped, protection) == 0;
}

// The rest under the lock.
Block* find(const void* address) {
  auto& map = blocks().by_address;
  const uintptr_t a = reinterpret_cast<uintptr_t>(address);
  auto after = map.upper_bound(a);
  if (after == map.begin()) return nullptr;
  Block& block = (--after)->second;
  return a - block.address < block.mapped && !block.freed ? &block : nullptr;
}
void unmap(const Block& block) {
  munmap(reinterpret_cast<void*>(block.address), block.mapped);
  blocks().by_address.erase(block.address);
}
void unmap_if_unused(const Block& block) {
  if (block.freed && block.open == 0 && block.held == 0) unmap(block);
}

void free_memory(void* context) {
  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block* const block = static_cast<Block*>(context);
  block->stats->remove(block->bytes);
  block->total->remove(block->bytes);
  block->freed = true;
  unmap_if_unused(*block);
}

// The allocation that memory of a storage lies in.
Block& find_or_throw(const char* what, const void* address) {
  Block* const block = find(address);
  SB_CHECK(block, what, ": the memory is not ", to_string(DeviceType::PrivateUse1), "'s");
  return *block;
}

}  // namespace

DataPtr DeviceMemory::allocate(size_t bytes, Device device, AllocationStats* stats,
                               AllocationStats* total) {
  if (bytes == 0) return DataPtr(nullptr, device);
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  SB_CHECK(bytes <= static_cast<size_t>(std::numeric_limits<int64_t>::max()) - page,
           to_string(device), ": cannot allocate ", bytes, " bytes");
  const size_t mapped = (bytes + page - 1) / page * page;
  // Writable at first, so that the system counts it and refuses what it does not have.
  void* const data = mmap(nullptr, mapped, kOpen, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SB_CHECK(data != MAP_FAILED, to_string(device), ": out of memory allocating ", bytes, " bytes");
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);

  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block& block =
      blocks().by_address[address] = {address, bytes, mapped, stats, total, device.index};
  if (blocks().sealing && !protect(block, PROT_NONE)) {
    unmap(block);
    SB_THROW(RuntimeError, to_string(device), ": the system refused to seal ", bytes, " bytes");
  }
  stats->add(bytes);
  total->add(bytes);
  return DataPtr(data, &block, &free_memory, device);
}

int DeviceMemory::open_count(const void* address) {
  std::lock_guard<std::mutex> lock(blocks().mutex);
  const Block* block = find(address);
  return block ? block->open : -1;
}

void DeviceMemory::set_sealing(bool sealing) {
  std::lock_guard<std::mutex> lock(blocks().mutex);
  if (sealing == blocks().sealing) return;
  const auto protect_closed = [](int protection) {
    bool done = true;
    for (const auto& [address, block] : blocks().by_address)
      if (block.open == 0) done &= protect(block, protection);
    return done;
  };
  if (!protect_closed(sealing ? PROT_NONE : kOpen)) {
    protect_closed(sealing ? kOpen : PROT_NONE);
    SB_THROW(RuntimeError, "set_sealing: the system refused to ", sealing ? "seal" : "open",
             " all memory of ", to_string(DeviceType::PrivateUse1));
  }
  blocks().sealing = sealing;
}

bool DeviceMemory::sealing() {
  std::lock_guard<std::mutex> lock(blocks().mutex);
  return blocks().sealing;
}

void DeviceMemory::Hold::add(const Storage& storage) {
  if (!storage || storage->nbytes() == 0) return;
  blocks_.reserve(blocks_.size() + 1);
  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block& block = find_or_throw("hold", storage->data());
  ++block.held;
  blocks_.push_back(&block);
}

DeviceMemory::Hold::~Hold() {
  if (blocks_.empty()) return;
  std::lock_guard<std::mutex> lock(blocks().mutex);
  for (Block* block : blocks_) {
    --block->held;
    unmap_if_unused(*block);
  }
}

DeviceMemory::Unlock::Unlock(const Hold& hold) : Unlock() {
  blocks_.reserve(hold.blocks_.size());
  std::lock_guard<std::mutex> lock(blocks().mutex);
  for (Block* block : hold.blocks_) open(block);
}

void DeviceMemory::Unlock::open(Block* block) {
  SB_CHECK(block->open != 0 || !blocks().sealing || protect(*block, kOpen),
           "the system refused to open ", block->mapped, " bytes of device memory");
  ++block->open;
  blocks_.push_back(block);
}

void DeviceMemory::Unlock::add(const Storage& storage) {
  if (storage && storage->nbytes() != 0) add_address(storage->data());
}

void DeviceMemory::Unlock::add_address(const void* address) {
  blocks_.reserve(blocks_.size() + 1);
  std::unique_lock<std::mutex> lock(blocks().mutex);
  const int8_t device = find_or_throw("unlock", address).device;
  lock.unlock();
  synchronize_device(device);
  lock.lock();
  open(&find_or_throw("unlock", address));
}

DeviceMemory::Unlock::~Unlock() {
  if (blocks_.empty()) return;
  std::lock_guard<std::mutex> lock(blocks().mutex);
  for (Block* block : blocks_) {
    if (--block->open != 0) continue;
    // Should the system refuse, the memory stays open, which does no harm.
    if (blocks().sealing) protect(*block, PROT_NONE);
    unmap_if_unused(*block);
  }
}

}  // namespace sb::dummy
