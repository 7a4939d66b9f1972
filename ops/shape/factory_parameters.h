// Parameters that all factories share.

#ifndef SWITCHBOARD_OPS_SHAPE_FACTORY_PARAMETERS_H_
#define SWITCHBOARD_OPS_SHAPE_FACTORY_PARAMETERS_H_

#include <optional>

#include "switchboard/core/device.h"
#include "switchboard/core/dispatch_key.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/layout.h"

// The last parameters of every factory, as PyTorch's `dtype=None, layout=None, device=None,
// pin_memory=None`: parameters, to be forwarded under these names.
#define SB_TENSOR_OPTIONS                                                                 \
  std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory

namespace sb {}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_FACTORY_PARAMETERS_H_
