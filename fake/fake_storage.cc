#include "switchboard/fake/fake_storage.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "switchboard/core/error.h"

namespace sb::internal {
namespace {

// What one allocation counts for, until it is freed.
struct Counted {
  IntrusivePtr<FakeAllocator> allocator;
  size_t bytes;
};

void uncount(void* context) {
  Counted* const counted = static_cast<Counted*>(context);
  counted->allocator->stats().remove(counted->bytes);
  delete counted;
}

class FakeStorage final : public StorageImpl {
 public:
  FakeStorage(IntrusivePtr<FakeAllocator> allocator, size_t bytes)
      : StorageImpl(allocator->allocate(bytes), bytes, allocator.get()),
        allocator_(std::move(allocator)) {}

 private:
  IntrusivePtr<FakeAllocator> allocator_;
};

}  // namespace

DataPtr FakeAllocator::allocate(size_t bytes) {
  const Device meta(DeviceType::Meta);
  if (bytes == 0) return DataPtr(nullptr, meta);
  // A program may ask for more than there is anywhere, but not for more than can be counted.
  SB_CHECK(
      bytes <= static_cast<uint64_t>(INT64_MAX - std::max<int64_t>(0, stats().current_bytes())),
      "fake tensors would take more bytes than int64 counts: ", stats().current_bytes(), " and ",
      bytes, " more");
  Counted* const counted = new Counted{IntrusivePtr<FakeAllocator>::share(this), bytes};
  stats().add(bytes);
  return DataPtr(nullptr, counted, &uncount, meta);
}

Storage make_fake_storage(const IntrusivePtr<FakeAllocator>& allocator, size_t bytes) {
  return make_intrusive<FakeStorage>(allocator, bytes);
}

}  // namespace sb::internal
