// Calls of higher-order operators as autograd knows them: one node for each, whose backward calls
// such an operator again.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_CALL_NODE_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_CALL_NODE_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/autograd/node.h"
#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"

namespace sb::control_flow {

using Tensors = std::vector<Tensor>;

// A call that is derived.
struct DerivedCallSite {
  const HigherOrderOperator& op;
  std::string layer;     // "under TracingMode", for errors
  DispatchKeySet below;  // autograd
  // Runs an operator with the arguments below autograd, under the modes of the call.
  Tensors run(const HigherOrderOperator& op, std::vector<IValue> arguments) const;
};

// How a call is derived: the rule of an operator. Replaces the arguments by the results.
using DeriveRule = std::function<void(const DerivedCallSite& call, Stack* stack)>;
// For static objects: the rule of each operator, once.
bool register_derivative(const HigherOrderOperator& op, DeriveRule rule);

// Of which tensors gradients are wanted, now.
std::vector<bool> which_require_grad(const Tensors& tensors);

// What a node is made of.
struct Recorded {
  Tensors inputs;             // that gradients go to
  Tensors others;             // that backward needs besides
  Tensors results;            // of the call and others that backward needs
  size_t num_returned;        // how many of them the call gives
  std::vector<bool> derived;  // which results were computed from what requires a gradient
  // The gradients of the inputs: undefined where nothing comes, or where none is wanted. It gets
  // the tensors above as they were; `grads` are the gradients of the results, undefined ones too.
  std::function<Tensors(const Tensors& inputs, const Tensors& others, const Tensors& results,
                        const TensorVector& grads)>
      backward;
};

// Makes the node; gives the results that the call returns, with their history. Those that share
// memory with an input may not be written to.
Tensors record(const DerivedCallSite& call, Recorded recorded);

// In the order of `wanted`, and undefined elsewhere.
Tensors spread(const Tensors& given, const std::vector<size_t>& wanted, size_t size);
// The numbers of gradients that are there, from `begin` on.
std::vector<size_t> defined_in(const TensorVector& grads, size_t begin, size_t end);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_CALL_NODE_H_
