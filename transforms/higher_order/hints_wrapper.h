// A function with hints for who compiles the graph.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_HINTS_WRAPPER_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_HINTS_WRAPPER_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::hints_wrapper(body_fn, args, kwargs, hints)`: a Callable, a list of tensors, an
// empty list, and a list of pairs, as hints_value() makes it of a name and an int, float, bool or
// string each. RuntimeError for anything else.
const higher_order::BaseHop& hints_wrapper_hop();

using Hints = std::vector<std::pair<std::string, IValue>>;
IValue hints_value(const Hints& hints);

// f(operands...); the hints change nothing and stay on the node of a graph. As `hints_wrapper`, but
// for gradients, which pass; PyTorch's backward says that there are none.
template <class F>
std::vector<Tensor> hints_wrapper(F f, std::vector<Tensor> operands, const Hints& hints) {
  return hints_wrapper_hop()(tensor_callable("higher_order::hints_wrapper: body_fn", std::move(f)),
                             std::move(operands), {std::vector<IValue>(), hints_value(hints)});
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_HINTS_WRAPPER_H_
