#include "switchboard/devices/dummy/host_alias.h"

#include "switchboard/core/error.h"

namespace sb::dummy {

Tensor AliasStorages::alias(const Tensor& t) {
  SB_CHECK(t.is_cpu() || t.device().type == DeviceType::PrivateUse1, "expected a tensor on ",
           to_string(DeviceType::PrivateUse1), ", got ", t.describe());
  SB_CHECK(t.storage(), t.describe(), " has no storage");
  Storage host;
  for (const auto& [original, alias] : storages_)
    if (original == t.storage()) host = alias;
  if (!host) {
    host = make_intrusive<StorageImpl>(DataPtr(t.storage()->data(), DeviceType::CPU),
                                       t.storage()->nbytes(), nullptr);
    storages_.emplace_back(t.storage(), host);
  }
  auto impl = make_intrusive<TensorImpl>(std::move(host), tensor_key_set(DeviceType::CPU),
                                         t.dtype(), DeviceType::CPU);
  impl->set_sizes_and_strides(t.sizes(), t.strides());
  impl->set_storage_offset(t.storage_offset());
  return Tensor(std::move(impl));
}

}  // namespace sb::dummy
