// A function that a trace must not look into.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_STRICT_MODE_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_STRICT_MODE_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::strict_mode(callable, operands)`: a Callable and a list of tensors.
const higher_order::BaseHop& strict_mode_hop();

// f(operands...), which a graph keeps as one call. As `strict_mode`, but for gradients, which pass;
// PyTorch's backward says that there are none. f is as in tensor_callable.h.
template <class F>
std::vector<Tensor> strict_mode(F f, std::vector<Tensor> operands) {
  return strict_mode_hop()(tensor_callable("higher_order::strict_mode: callable", std::move(f)),
                           std::move(operands));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_STRICT_MODE_H_
