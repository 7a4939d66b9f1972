#include "switchboard/fake/fake_storage.h"

#include <algorithm>
#include <cstdint>

#include "switchboard/core/error.h"

namespace sb::internal {
namespace {

// What one allocation counts for, until it is freed.
struct Counted final : IntrusiveTarget {
  Counted(FakeAllocator* from, size_t size)
      : allocator(IntrusivePtr<FakeAllocator>::share(from)), bytes(size) {}
  IntrusivePtr<FakeAllocator> allocator;
  size_t bytes;
};

void uncount(void* context) {
  const auto counted = IntrusivePtr<Counted>::adopt(static_cast<Counted*>(context));
  counted->allocator->stats().remove(counted->bytes);
}

}  // namespace

DataPtr FakeAllocator::allocate(size_t bytes) {
  // A program may ask for more than there is anywhere, but not for more than can be counted.
  SB_CHECK(
      bytes <= static_cast<uint64_t>(INT64_MAX - std::max<int64_t>(0, stats().current_bytes())),
      "fake tensors would take more bytes than int64 counts: ", stats().current_bytes(), " and ",
      bytes, " more");
  stats().add(bytes);
  return DataPtr(nullptr, make_intrusive<Counted>(this, bytes).leak(), &uncount,
                 Device(DeviceType::Meta));
}

Storage make_fake_storage(FakeAllocator* allocator, size_t bytes) {
  Storage storage = make_intrusive<StorageImpl>(bytes, allocator);
  FreshStorages::note(storage.get());
  return storage;
}

void count_storage(StorageImpl* storage, FakeAllocator* allocator) {
  FreshStorages::note(storage);
  storage->set_data(allocator->allocate(storage->nbytes()),
                    storage->resizable() ? allocator : nullptr);
}

}  // namespace sb::internal
