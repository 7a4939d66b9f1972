#include "switchboard/fake/fake_storage.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "switchboard/core/error.h"
#include "switchboard/core/memory/block_cache.h"

namespace sb::internal {
namespace {

// What one allocation counts for, until it is freed.
struct Counted {
  FakeAllocator* allocator;  // a reference
  size_t bytes;
};

void uncount(void* context) {
  const Counted counted = *static_cast<const Counted*>(context);
  free_block(context, sizeof(Counted));
  counted.allocator->stats().remove(counted.bytes);
  counted.allocator->release();
}

}  // namespace

[[gnu::always_inline]] inline DataPtr FakeAllocator::count(size_t bytes) {
  // A program may ask for more than there is anywhere, but not for more than can be counted.
  SB_CHECK(
      bytes <= static_cast<uint64_t>(INT64_MAX - std::max<int64_t>(0, stats().current_bytes())),
      "fake tensors would take more bytes than int64 counts: ", stats().current_bytes(), " and ",
      bytes, " more");
  void* const block = allocate_block(sizeof(Counted));
  if (!block) throw std::bad_alloc();
  stats().add(bytes);
  retain();
  return DataPtr(nullptr, new (block) Counted{this, bytes}, &uncount, Device(DeviceType::Meta));
}

DataPtr FakeAllocator::allocate(size_t bytes) { return count(bytes); }

Storage make_fake_storage(FakeAllocator* allocator, size_t bytes) {
  Storage storage = make_intrusive<StorageImpl>(bytes, allocator);
  FreshStorages::note(storage.get());
  return storage;
}

void count_storage(StorageImpl* storage, FakeAllocator* allocator) {
  FreshStorages::note(storage);
  storage->set_data(allocator->count(storage->nbytes()),
                    storage->resizable() ? allocator : nullptr);
}

}  // namespace sb::internal
