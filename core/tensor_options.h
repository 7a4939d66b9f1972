// dtype, layout, device and pinning of a tensor to be made, each given or not.

#ifndef SWITCHBOARD_CORE_TENSOR_OPTIONS_H_
#define SWITCHBOARD_CORE_TENSOR_OPTIONS_H_

#include <optional>

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/layout.h"

namespace sb {

// As `at::TensorOptions`: what is not given takes the default of the operator that reads it.
struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype(dtype) {}      // NOLINT
  TensorOptions(Device device) : device(device) {}  // NOLINT
  TensorOptions(DType dtype, Device device) : dtype(dtype), device(device) {}

  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_TENSOR_OPTIONS_H_
