// Parts of a program in which operators run in a dtype that suits them.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_WITH_AUTOCAST_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_WITH_AUTOCAST_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::wrap_with_autocast(device_type, dtype, enabled, cache_enabled, wrapped_func,
// args)`: a string, a dtype or None, two bools, a Callable and a list of tensors. Nothing is
// cached.
const higher_order::BaseHop& wrap_with_autocast_hop();

// f(args...) under AutocastGuard(device_type, dtype, enabled), which throws what is wrong with
// these; a graph keeps it as one call, and turns autocast on, or off, when it runs. As
// `wrap_with_autocast`; f is as in tensor_callable.h.
template <class F>
std::vector<Tensor> wrap_with_autocast(const std::string& device_type, std::optional<DType> dtype,
                                       bool enabled, F f, std::vector<Tensor> args) {
  return wrap_with_autocast_hop()(
      tensor_callable("higher_order::wrap_with_autocast: wrapped_func", std::move(f)),
      std::move(args), {device_type, dtype ? IValue(*dtype) : IValue(), enabled, true});
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_WITH_AUTOCAST_H_
