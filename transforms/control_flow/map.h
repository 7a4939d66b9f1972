// A function of each slice of tensors.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_MAP_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_MAP_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::map_impl(f, xs, args)`: a Callable and two lists of tensors. As
// `torch.ops.higher_order.map_impl`.
HigherOrderOperator& map_impl_op();

// Calls f(xs[0][i], xs[1][i], ..., args...) for each i of the first dimension of the xs, in order,
// and stacks what it gives along a new first dimension. As `map` of
// `functorch.experimental.control_flow`. f is as in tensor_callable.h.
//
//   Tensor y = map([](const Tensor& row, const Tensor& w) { return row * w; }, {x}, {w})[0];
//
// Throws RuntimeError if there are no xs, if one has no dimension, if their first dimensions differ
// or are 0, and if f does not give as many tensors, and of the same dtypes, sizes and devices, for
// each slice. A trace records f once, and a fake mode runs it once, for the first slice. What
// functions may not do is in cond.h.
template <class F>
std::vector<Tensor> map(F f, std::vector<Tensor> xs, std::vector<Tensor> args = {});

namespace control_flow {

// The arguments of a call. Throws what is wrong with them.
struct MapCall {
  explicit MapCall(const std::vector<IValue>& stack);

  SymInt size() const { return xs[0].sym_size(0); }
  // What f takes for slice i.
  std::vector<Tensor> inputs_at(int64_t i) const;

  FunctionArgument f;
  std::vector<Tensor> xs, args;
};

std::vector<Tensor> call_map(IValue f, std::vector<Tensor> xs, std::vector<Tensor> args);

}  // namespace control_flow

template <class F>
std::vector<Tensor> map(F f, std::vector<Tensor> xs, std::vector<Tensor> args) {
  return control_flow::call_map(tensor_callable("higher_order::map_impl: f", std::move(f)),
                                std::move(xs), std::move(args));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_MAP_H_
