// What the device's tensors are made of: allocators, and storages of its own class.

#ifndef SWITCHBOARD_DEVICES_DUMMY_ALLOCATOR_H_
#define SWITCHBOARD_DEVICES_DUMMY_ALLOCATOR_H_

#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/storage.h"

namespace sb::dummy {

// The allocator to register: allocates on the device that is current on the thread, and counts for
// all devices together.
Allocator& current_device_allocator();
// The allocator of one device; `index` exists.
Allocator& device_allocator(int8_t index);

// A storage that grows on the device that it is on, whichever is current by then.
class DeviceStorage final : public StorageImpl {
 public:
  DeviceStorage(DataPtr data, size_t nbytes, Allocator* allocator);
};

// The storage factory to register.
Storage make_device_storage(DataPtr data, size_t nbytes, Allocator* allocator);

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_ALLOCATOR_H_
