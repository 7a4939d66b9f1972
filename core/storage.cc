#include "switchboard/core/storage.h"

#include <algorithm>
#include <atomic>

#include "switchboard/core/error.h"

namespace sb {
namespace {

// Indexed by device type.
constinit std::atomic<StorageFactory> factories[kNumDeviceTypes] = {};

}  // namespace

void StorageImpl::resize(size_t nbytes) {
  SB_CHECK(allocator_, "resize: the storage of ", nbytes_, " bytes on ", to_string(data_.device()),
           " is not resizable");
  if (nbytes == nbytes_) return;
  if (nbytes == 0) {
    data_ = DataPtr(nullptr, data_.device());
    nbytes_ = 0;
    return;
  }
  DataPtr fresh = allocator_->allocate(nbytes);
  // Meta memory has no bytes to copy.
  if (data_.get() && fresh.get()) {
    allocator_->copy_data(fresh.get(), data_.get(), std::min(nbytes, nbytes_));
  }
  data_ = std::move(fresh);
  nbytes_ = nbytes;
}

Storage make_storage(size_t nbytes, Allocator* allocator, DeviceType type) {
  SB_CHECK_VALUE(allocator, "make_storage: no allocator given for ", to_string(type));
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "make_storage: unknown device type ", i);
  DataPtr data = allocator->allocate(nbytes);
  if (const StorageFactory factory = factories[i].load(std::memory_order_acquire)) {
    return factory(std::move(data), nbytes, allocator);
  }
  return make_intrusive<StorageImpl>(std::move(data), nbytes, allocator);
}

void set_storage_factory(DeviceType type, StorageFactory factory) {
  const size_t i = static_cast<size_t>(type);
  SB_CHECK_VALUE(i < kNumDeviceTypes, "set_storage_factory: unknown device type ", i);
  factories[i].store(factory, std::memory_order_release);
}

}  // namespace sb
