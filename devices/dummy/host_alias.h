// Device memory as CPU tensors, for the device's own code only.

#ifndef SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_
#define SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_

#include <utility>
#include <vector>

#include "switchboard/devices/dummy/memory.h"

namespace sb::dummy {

// Opens the memory of tensors for a scope and gives CPU tensors over it; those of tensors that
// share a storage share one too. The CPU tensors must not outlive the scope. CPU tensors are their
// own aliases. As `unsafe_create_cpu_tensor_from_dummy_tensor` of PyTorch's test device.
class HostAliases {
 public:
  Tensor operator()(const Tensor& t);

 private:
  DeviceMemory::Unlock open_;
  std::vector<std::pair<Storage, Storage>> storages_;  // the device's, the CPU's
};

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_
