// The memory under tensors: bytes on a device, shared by the views of it.

#ifndef SWITCHBOARD_CORE_STORAGE_H_
#define SWITCHBOARD_CORE_STORAGE_H_

#include <atomic>
#include <cstddef>

#include "switchboard/core/device.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/memory/allocator.h"

namespace sb {

// As `c10::StorageImpl`. Devices may subclass it (set_storage_factory). One writer at a time.
class StorageImpl : public IntrusiveTarget {
 public:
  // `allocator` is what a resize takes memory from; nullptr makes the storage fixed.
  StorageImpl(DataPtr data, size_t nbytes, Allocator* allocator)
      : nbytes_(nbytes), allocator_(allocator), data_(std::move(data)) {}
  // The same with fresh bytes, which the allocator puts in their place without a move.
  StorageImpl(size_t nbytes, Allocator* allocator)
      : nbytes_(nbytes), allocator_(allocator), data_(allocator->allocate(nbytes)) {}

  // Null where there are no bytes. Waits for those that are still to come: see await_data().
  void* data() const {
    void* const start = data_.get();
    return __builtin_expect(start != nullptr, true) ? start : data_later();
  }
  size_t nbytes() const { return nbytes_; }
  Device device() const { return data_.device(); }
  bool resizable() const { return allocator_ != nullptr; }
  void set_resizable(Allocator* allocator) { allocator_ = allocator; }

  // Other memory of the same size, which later resizes take from `allocator` (nullptr: none).
  void set_data(DataPtr data, Allocator* allocator) {
    data_ = std::move(data);
    allocator_ = allocator;
  }

  // Keeps the bytes that fit both sizes. Throws RuntimeError, changing nothing, if not resizable.
  void resize(size_t nbytes);

 protected:
  // Weak references keep no memory alive.
  void release_resources() override { data_.clear(); }
  // For a subclass whose bytes come later: waits, and returns their address, in memory that
  // context() owns; or throws why they do not come. Several threads may call it at once.
  virtual void* await_data() { return nullptr; }
  const void* context() const { return data_.context(); }

 private:
  [[gnu::cold, gnu::noinline]] void* data_later() const;  // core/memory/data_later.cc
  size_t nbytes_;
  Allocator* allocator_;
  DataPtr data_;  // last: nothing is left to do when the allocator returns
};

using Storage = IntrusivePtr<StorageImpl>;

// Makes every storage of a device type. Set once, at registration. As `SetStorageImplCreate`.
using StorageFactory = Storage (*)(DataPtr data, size_t nbytes, Allocator* allocator);
void set_storage_factory(DeviceType type, StorageFactory factory);

namespace internal {
extern constinit std::atomic<StorageFactory> storage_factories[kNumDeviceTypes];
// The rest of make_storage: a factory, or an error.
Storage make_storage_slow(size_t nbytes, Allocator* allocator, DeviceType type);
}  // namespace internal

// Fresh bytes from the allocator, by the factory of its device if any. Inline: every `empty` is
// one.
inline Storage make_storage(size_t nbytes, Allocator* allocator, DeviceType type) {
  const size_t i = static_cast<size_t>(type);
  if (!allocator || i >= kNumDeviceTypes ||
      internal::storage_factories[i].load(std::memory_order_acquire)) [[unlikely]] {
    return internal::make_storage_slow(nbytes, allocator, type);
  }
  return make_intrusive<StorageImpl>(nbytes, allocator);
}

}  // namespace sb

#endif  // SWITCHBOARD_CORE_STORAGE_H_
