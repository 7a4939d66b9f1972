// A function that a program calls many times and a graph holds once.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_INVOKE_SUBGRAPH_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_INVOKE_SUBGRAPH_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::invoke_subgraph(subgraph, identifier, operands)`: a Callable, a string or None,
// and a list of tensors.
const higher_order::BaseHop& invoke_subgraph_hop();

// f(operands...). Calls with the same identifier share one subgraph of a graph where f computes the
// same on both: the same operators, on tensors of the same sizes, with the same constants. Their
// gradients share one, too. As `torch.ops.higher_order.invoke_subgraph`; f is as in
// tensor_callable.h.
template <class F>
std::vector<Tensor> invoke_subgraph(F f, std::string identifier, std::vector<Tensor> operands) {
  return invoke_subgraph_hop()(
      tensor_callable("higher_order::invoke_subgraph: subgraph", std::move(f)), std::move(operands),
      {std::move(identifier)});
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_INVOKE_SUBGRAPH_H_
