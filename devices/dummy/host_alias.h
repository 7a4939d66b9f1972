// Device memory as CPU tensors, for the device's own code only.

#ifndef SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_
#define SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_

#include <utility>
#include <vector>

#include "switchboard/devices/dummy/memory.h"

namespace sb::dummy {

// CPU tensors at the addresses of tensors; those of tensors that share a storage share one too.
// They neither open the memory nor keep it.
class AliasStorages {
 public:
  // RuntimeError for a tensor that is neither on the CPU nor on the device.
  Tensor alias(const Tensor& t);

 private:
  std::vector<std::pair<Storage, Storage>> storages_;  // the tensors', the aliases'
};

// Opens the memory of tensors for a scope, as Unlock, and gives CPU tensors over it. The CPU
// tensors must not outlive the scope. CPU tensors are their own aliases. As
// `unsafe_create_cpu_tensor_from_dummy_tensor` of PyTorch's test device.
class HostAliases {
 public:
  Tensor operator()(const Tensor& t) {
    if (t.is_cpu()) return t;
    const Tensor host = storages_.alias(t);
    open_.add(t.storage());
    return host;
  }

 private:
  DeviceMemory::Unlock open_;
  AliasStorages storages_;
};

}  // namespace sb::dummy

#endif  // SWITCHBOARD_DEVICES_DUMMY_HOST_ALIAS_H_
