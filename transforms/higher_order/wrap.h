// Parts of a program as calls, as they are or with grad mode on or off.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::wrap(func, args)`: a Callable and a list of tensors.
const higher_order::BaseHop& wrap_hop();
// `higher_order::wrap_with_set_grad_enabled(enable_grad, wrapped_func, args)`.
const higher_order::BaseHop& wrap_with_set_grad_enabled_hop();

// f(args...), which a graph keeps as one call; f is as in tensor_callable.h. As
// `torch.ops.higher_order.wrap` in the graphs of a compiler; make_fx looks into it.
template <class F>
std::vector<Tensor> wrap(F f, std::vector<Tensor> args) {
  return wrap_hop()(tensor_callable("higher_order::wrap: func", std::move(f)), std::move(args));
}

// The same with grad mode on or off while f runs: also when a graph of it does, so that gradients
// of the graph stop where those of the program do. As `wrap_with_set_grad_enabled`.
template <class F>
std::vector<Tensor> wrap_with_set_grad_enabled(bool enable_grad, F f, std::vector<Tensor> args) {
  return wrap_with_set_grad_enabled_hop()(
      tensor_callable("higher_order::wrap_with_set_grad_enabled: wrapped_func", std::move(f)),
      std::move(args), {enable_grad});
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_WRAP_H_
