// The gradient of one of several functions, the one that is called.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BRANCHES_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BRANCHES_H_

#include <functional>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"

namespace sb::control_flow {

// Calls an operator with functions and operands. It gets the tensors that backward needs besides.
using CallAgain =
    std::function<Tensors(const Tensors& others, std::vector<IValue> functions, Tensors operands)>;

// Records a call that gave `results` by one of the functions, called with the operands. Its
// backward is the call `again` of the gradients of the functions.
Tensors derive_branches(const DerivedCallSite& call, const std::vector<FunctionArgument>& branches,
                        const Tensors& operands, Tensors others, Tensors results, CallAgain again);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_DERIVATIVES_BRANCHES_H_
