#include "switchboard/devices/dummy/allocator.h"

#include <cstring>

#include "switchboard/devices/dummy/device.h"
#include "switchboard/devices/dummy/memory.h"

namespace sb::dummy {
namespace {

class AllocatorBase : public Allocator {
 public:
  void copy_data(void* destination, const void* source, size_t bytes) override {
    if (bytes == 0) return;
    DeviceMemory::Unlock open;
    open.add_address(destination);
    open.add_address(source);
    std::memcpy(destination, source, bytes);
  }
};

class DeviceAllocator final : public AllocatorBase {
 public:
  explicit DeviceAllocator(int8_t index) : device_(DeviceType::PrivateUse1, index) {}
  DataPtr allocate(size_t bytes) override {
    return DeviceMemory::allocate(bytes, device_, &stats(), &current_device_allocator().stats());
  }

 private:
  Device device_;
};

class CurrentDeviceAllocator final : public AllocatorBase {
 public:
  DataPtr allocate(size_t bytes) override {
    return device_allocator(current_index()).allocate(bytes);
  }
};

}  // namespace

Allocator& current_device_allocator() {
  static Allocator& allocator = *new CurrentDeviceAllocator;  // never destroyed
  return allocator;
}

Allocator& device_allocator(int8_t index) {
  static DeviceAllocator* const allocators[kDeviceCount] = {new DeviceAllocator(0),
                                                            new DeviceAllocator(1)};
  return *allocators[index];
}

DeviceStorage::DeviceStorage(DataPtr data, size_t nbytes, Allocator* allocator)
    : StorageImpl(std::move(data), nbytes, allocator) {
  if (allocator == &current_device_allocator()) set_resizable(&device_allocator(device().index));
}

Storage make_device_storage(DataPtr data, size_t nbytes, Allocator* allocator) {
  return make_intrusive<DeviceStorage>(std::move(data), nbytes, allocator);
}

}  // namespace sb::dummy
