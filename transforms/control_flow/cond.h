// One of two functions, as the data says.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_COND_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_COND_H_

#include <functional>
#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::cond(pred, true_fn, false_fn, operands)`: a truth, symbolic or not, or a tensor of
// one element, two Callables and a list of tensors. As `torch.ops.higher_order.cond`.
HigherOrderOperator& cond_op();

// true_fn(operands...) if pred holds, else false_fn(operands...). As `torch.cond`. The functions
// are as in tensor_callable.h.
//
//   Tensor y = cond(sum(x) > 0, [](const Tensor& x) { return x + 1; },
//                   [](const Tensor& x) { return -x; }, {x})[0];
//
// On kernels it reads pred and runs one function. A trace records both, as subgraphs, and a fake
// mode runs both, so that pred needs no data there; what they give must then agree in number,
// dtypes, sizes, strides and devices (RuntimeError, naming the function and the result). In a fake
// mode with a ShapeEnv sizes may differ: they are symbols then.
// Functionalisation under a trace or a fake mode refuses functions that write to what they capture
// (NotImplementedError).
// Gradients pass; under a trace or a fake mode by derivatives/, which runs each function once more.
//
// Throws RuntimeError for a pred that is not one element and for undefined operands;
// NotImplementedError under modes that have no rule for it.
template <class T, class F>
std::vector<Tensor> cond(const Tensor& pred, T true_fn, F false_fn,
                         std::vector<Tensor> operands = {});
// The same for a pred that is known: no call of the operator, a trace records what runs.
template <class T, class F>
std::vector<Tensor> cond(bool pred, T true_fn, F false_fn, std::vector<Tensor> operands = {});
// The same for one that sizes tell, `x.sym_size(0) > 4`. Of symbols it asks nothing under a trace
// or a fake mode, which have both functions; on kernels it guards. A plain one is known.
template <class T, class F>
std::vector<Tensor> cond(const SymBool& pred, T true_fn, F false_fn,
                         std::vector<Tensor> operands = {});

// The same for functions that give ints, floats, bools or None beside tensors, both of the same
// kinds (RuntimeError, naming the function and the result). As `torch.cond` with ints. The operator
// gives each number as a tensor without dimensions: in a fake mode, and a trace of its tensors, it
// is a symbol, for which the mode needs a ShapeEnv (DataDependentOutputError without one); a trace
// of tensors with data, in which it would be burnt in, refuses it.
std::vector<IValue> cond_values(
    const Tensor& pred, std::function<std::vector<IValue>(const std::vector<Tensor>&)> true_fn,
    std::function<std::vector<IValue>(const std::vector<Tensor>&)> false_fn,
    std::vector<Tensor> operands = {});
std::vector<IValue> cond_values(
    const SymBool& pred, std::function<std::vector<IValue>(const std::vector<Tensor>&)> true_fn,
    std::function<std::vector<IValue>(const std::vector<Tensor>&)> false_fn,
    std::vector<Tensor> operands = {});

namespace control_flow {

// The arguments of a call. Throws what is wrong with them.
struct CondCall {
  explicit CondCall(const std::vector<IValue>& stack);

  IValue pred;  // a truth, or one element, which holds unless it is 0
  FunctionArgument true_fn, false_fn;
  std::vector<Tensor> operands;
};

std::vector<Tensor> call_cond(IValue pred, IValue true_fn, IValue false_fn,
                              std::vector<Tensor> operands);
std::vector<Tensor> call_known_cond(bool pred, IValue true_fn, IValue false_fn,
                                    std::vector<Tensor> operands);

// Either of the two, as the pred is symbolic or plain.
std::vector<Tensor> call_cond_of_sizes(const SymBool& pred, IValue true_fn, IValue false_fn,
                                       std::vector<Tensor> operands);

}  // namespace control_flow

template <class T, class F>
std::vector<Tensor> cond(const Tensor& pred, T true_fn, F false_fn, std::vector<Tensor> operands) {
  return control_flow::call_cond(
      pred, tensor_callable("higher_order::cond: true_fn", std::move(true_fn)),
      tensor_callable("higher_order::cond: false_fn", std::move(false_fn)), std::move(operands));
}

template <class T, class F>
std::vector<Tensor> cond(bool pred, T true_fn, F false_fn, std::vector<Tensor> operands) {
  return control_flow::call_known_cond(
      pred, tensor_callable("higher_order::cond: true_fn", std::move(true_fn)),
      tensor_callable("higher_order::cond: false_fn", std::move(false_fn)), std::move(operands));
}

template <class T, class F>
std::vector<Tensor> cond(const SymBool& pred, T true_fn, F false_fn, std::vector<Tensor> operands) {
  return control_flow::call_cond_of_sizes(
      pred, tensor_callable("higher_order::cond: true_fn", std::move(true_fn)),
      tensor_callable("higher_order::cond: false_fn", std::move(false_fn)), std::move(operands));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_COND_H_
