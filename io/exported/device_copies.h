// Copies of tensors on a device, which share memory where the tensors do.

#ifndef SWITCHBOARD_IO_EXPORTED_DEVICE_COPIES_H_
#define SWITCHBOARD_IO_EXPORTED_DEVICE_COPIES_H_

#include <map>
#include <utility>

#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"

namespace sb::io {

// The tensors must live as long as this does. Not thread-safe.
class DeviceCopies {
 public:
  explicit DeviceCopies(Device device) : device_(device) {}

  // A copy with the sizes, strides and offset of the tensor, without its gradient. A storage is
  // copied once, as a whole: tensors that share it (and their dtype) share the copy. Made by
  // `aten::empty_strided` and `aten::copy_`; throws what these throw.
  Tensor copy(const Tensor& tensor);

 private:
  Device device_;
  std::map<std::pair<const StorageImpl*, DType>, Tensor> storages_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_DEVICE_COPIES_H_
