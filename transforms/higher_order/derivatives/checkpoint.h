// Functions of which autograd keeps only what they were given.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_DERIVATIVES_CHECKPOINT_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_DERIVATIVES_CHECKPOINT_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::wrap_activation_checkpoint(function, args)` and
// `higher_order::tag_activation_checkpoint(gmod, args)`: a Callable and a list of tensors.
const higher_order::BaseHop& wrap_activation_checkpoint_hop();
const higher_order::BaseHop& tag_activation_checkpoint_hop();

// f(args...), of which nothing is saved but the tensors that f is given or captures: backward calls
// f again, with the random numbers of the first time, and without its effects on the host. So
// NotImplementedError, naming the operator that f calls, if f writes to what it has not made, draws
// random numbers from a generator other than the CPU's own, or needs the result of an operator with
// an effect. Results of floating type all require a gradient if a tensor does that f uses. As
// `torch.utils.checkpoint.checkpoint`; f is as in tensor_callable.h, and what it captures must live
// until backward.
template <class F>
std::vector<Tensor> wrap_activation_checkpoint(F f, std::vector<Tensor> args) {
  return wrap_activation_checkpoint_hop()(
      tensor_callable("higher_order::wrap_activation_checkpoint: function", std::move(f)),
      std::move(args));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_DERIVATIVES_CHECKPOINT_H_
