// One of several functions, as an index says.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SWITCH_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SWITCH_H_

#include <functional>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::switch(index, branches, operands)`: an integer, symbolic or not, or one element of
// an integer dtype, a list of Callables and a list of tensors. As `torch.ops.higher_order.switch`.
// IndexError where there is no such branch.
HigherOrderOperator& switch_op();

// Functions of tensors, as in tensor_callable.h, for switch_on.
template <class... F>
std::vector<IValue> branches(F... f) {
  return {tensor_callable("higher_order::switch: branch", std::move(f))...};
}

// branches[index](operands...): the first for an index below 0, the last for one that is too high.
// As `torch.switch`.
//
//   Tensor y = switch_on(i, branches([](const Tensor& x) { return x + 1; },
//                                    [](const Tensor& x) { return -x; },
//                                    [](const Tensor& x) { return x * x; }), {x})[0];
//
// It is a cond with more branches: what is said in cond.h holds for them. A call with one branch,
// or with an index that is known, is no call of the operator: a trace records what runs.
//
// Throws RuntimeError if there is no branch, for an index that is not one element of an integer
// dtype, and for undefined operands.
std::vector<Tensor> switch_on(const Tensor& index, std::vector<IValue> branches,
                              std::vector<Tensor> operands = {});
std::vector<Tensor> switch_on(int64_t index, std::vector<IValue> branches,
                              std::vector<Tensor> operands = {});
// The same for an index that sizes tell: see the cond of a SymBool.
std::vector<Tensor> switch_on(const SymInt& index, std::vector<IValue> branches,
                              std::vector<Tensor> operands = {});

// The same for branches that give numbers beside tensors, all of the same kinds: see cond_values.
using ValueBranches = std::vector<std::function<std::vector<IValue>(const std::vector<Tensor>&)>>;
std::vector<IValue> switch_values(const Tensor& index, ValueBranches branches,
                                  std::vector<Tensor> operands = {});

namespace control_flow {

// The arguments of a call. Throws what is wrong with them.
struct SwitchCall {
  explicit SwitchCall(const std::vector<IValue>& stack);

  IValue index;  // an integer, or one element of an integer dtype
  std::vector<FunctionArgument> branches;
  std::vector<Tensor> operands;
};

std::vector<Tensor> call_switch(IValue index, std::vector<IValue> branches,
                                std::vector<Tensor> operands);

}  // namespace control_flow
}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SWITCH_H_
