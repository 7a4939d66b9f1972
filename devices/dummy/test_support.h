// For the tests of the device: tensors of known elements, read and written through open memory.

#ifndef SWITCHBOARD_DEVICES_DUMMY_TEST_SUPPORT_H_
#define SWITCHBOARD_DEVICES_DUMMY_TEST_SUPPORT_H_

#include <cstring>
#include <vector>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/devices/dummy/memory.h"

namespace sb::dummy {

inline constexpr Device kFirst{DeviceType::PrivateUse1, 0};
inline constexpr Device kSecond{DeviceType::PrivateUse1, 1};

// A contiguous tensor with these elements, row by row.
template <class T>
Tensor tensor_of(Device device, IntArrayRef sizes, const std::vector<T>& elements) {
  DeviceGuard guard(device);
  const Tensor t = empty_on(device, sizes, dtype_of<T>);
  DeviceMemory::Unlock open;
  if (!device.is_cpu()) open.add(t.storage());
  if (!elements.empty()) std::memcpy(t.data_ptr(), elements.data(), t.nbytes());
  return t;
}

// All elements of a tensor's storage.
template <class T>
std::vector<T> storage_of(const Tensor& t) {
  DeviceMemory::Unlock open;
  if (!t.is_cpu()) open.add(t.storage());
  const T* first = static_cast<const T*>(t.storage()->data());
  return std::vector<T>(first, first + t.storage()->nbytes() / sizeof(T));
}

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_TEST_SUPPORT_H_
