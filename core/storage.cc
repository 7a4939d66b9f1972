#include "switchboard/core/storage.h"

#include <algorithm>

#include "switchboard/core/error.h"

namespace sb {

namespace internal {
constinit std::atomic<StorageFactory> storage_factories[kNumDeviceTypes] = {};
}  // namespace internal

void StorageImpl::resize(size_t nbytes) {
  SB_CHECK(allocator_, "resize: the storage of ", nbytes_, " bytes on ", to_string(data_.device()),
           " is not resizable");
  if (nbytes == nbytes_) return;
  DataPtr fresh = allocator_->allocate(nbytes);
  // Meta memory has no bytes to copy.
  if (data() && fresh.get()) allocator_->copy_data(fresh.get(), data(), std::min(nbytes, nbytes_));
  data_ = std::move(fresh);
  nbytes_ = nbytes;
}

Storage internal::make_storage_slow(size_t nbytes, Allocator* allocator, DeviceType type) {
  SB_CHECK_VALUE(allocator, "make_storage: no allocator given for ", to_string(type));
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "make_storage: unknown device type ", i);
  const StorageFactory factory = storage_factories[i].load(std::memory_order_acquire);
  if (!factory) return make_intrusive<StorageImpl>(nbytes, allocator);
  return factory(allocator->allocate(nbytes), nbytes, allocator);
}

void set_storage_factory(DeviceType type, StorageFactory factory) {
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "set_storage_factory: unknown device type ", i);
  internal::storage_factories[i].store(factory, std::memory_order_release);
}

}  // namespace sb
