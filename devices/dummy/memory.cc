#include "switchboard/devices/dummy/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <mutex>

#include "switchboard/core/error.h"

namespace sb::dummy {
namespace internal {

// One allocation.
struct Block {
  uintptr_t address;
  size_t bytes;   // as asked for
  size_t mapped;  // in whole pages
  AllocationStats* stats;
  AllocationStats* total;
  int open = 0;        // Unlock scopes
  bool freed = false;  // while it was open
};

}  // namespace internal

namespace {

using internal::Block;

// All allocations by address. Never destroyed: tensors may be freed after static destruction.
struct Blocks {
  std::mutex mutex;
  std::map<uintptr_t, Block> by_address;
};
Blocks& blocks() {
  static Blocks& blocks = *new Blocks;
  return blocks;
}

void protect(const Block& block, int protection) {
  SB_CHECK(mprotect(reinterpret_cast<void*>(block.address), block.mapped, protection) == 0,
           "the system refused to open ", block.mapped, " bytes of device memory");
}

// Both under the lock.
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

void free_memory(void* context) {
  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block* const block = static_cast<Block*>(context);
  block->stats->remove(block->bytes);
  block->total->remove(block->bytes);
  block->freed = true;
  if (block->open == 0) unmap(*block);
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
  void* const data =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SB_CHECK(data != MAP_FAILED, to_string(device), ": out of memory allocating ", bytes, " bytes");
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);

  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block& block = blocks().by_address[address] = {address, bytes, mapped, stats, total};
  if (mprotect(data, mapped, PROT_NONE) != 0) {
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

void DeviceMemory::Unlock::add(const Storage& storage) {
  if (storage && storage->nbytes() != 0) add_address(storage->data());
}

void DeviceMemory::Unlock::add_address(const void* address) {
  blocks_.reserve(blocks_.size() + 1);
  std::lock_guard<std::mutex> lock(blocks().mutex);
  Block* const block = find(address);
  SB_CHECK(block, "unlock: the memory is not ", to_string(DeviceType::PrivateUse1), "'s");
  if (block->open == 0) protect(*block, PROT_READ | PROT_WRITE);
  ++block->open;
  blocks_.push_back(block);
}

DeviceMemory::Unlock::~Unlock() {
  if (blocks_.empty()) return;
  std::lock_guard<std::mutex> lock(blocks().mutex);
  for (Block* block : blocks_) {
    if (--block->open != 0) continue;
    if (block->freed) {
      unmap(*block);
    } else {
      // Should the system refuse, the memory stays open, which does no harm.
      mprotect(reinterpret_cast<void*>(block->address), block->mapped, PROT_NONE);
    }
  }
}

}  // namespace sb::dummy
