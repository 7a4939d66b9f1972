// A function of each slice of tensors that carries a state from one to the next.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SCAN_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SCAN_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::scan(combine_fn, init, xs, additional_inputs)`: a Callable and three lists of
// tensors. As `torch.ops.higher_order.scan`.
HigherOrderOperator& scan_op();

// Calls combine_fn(carry..., xs[0][i], xs[1][i], ...) for each i of the first dimension of the xs,
// in order. It gives the next carry, as many tensors as `init`, and then what is stacked along a
// new first dimension. It takes the additional inputs, which stay as they are, behind the slices.
// With `reverse` it goes from the last slice to the first; what is stacked stays in the order of
// the slices. The result is the last carry and then the stacked tensors. As
// `torch._higher_order_ops.scan`. combine_fn is as in tensor_callable.h.
//
//   // Running sums of the rows of x, and their total.
//   Tensors r = scan([](const Tensor& sum, const Tensor& row) { return Tensors{sum + row, sum +
//   row}; },
//                    {zeros({3})}, {x});
//
// `dim` is the dimension of the xs that slices are taken along; what is stacked has it, too. Of no
// slices the result is `init` and empty tensors, for whose shapes combine_fn runs once, on zeros
// and without effects. scan_length() calls combine_fn(carry...) so many times.
//
// Throws RuntimeError if there are no xs, if one has no such dimension, if these differ in size, if
// combine_fn gives fewer tensors than there are carried ones, and if the carry or the
// slices change dtype, sizes or device. A trace records combine_fn once, and a fake mode runs it
// once, for the first slice; more often where the strides of the carry change from step to step,
// which it refuses (RuntimeError) where the number of slices is a symbol. What functions may not do
// is in cond.h.
template <class F>
std::vector<Tensor> scan(F combine_fn, std::vector<Tensor> init, std::vector<Tensor> xs,
                         std::vector<Tensor> additional_inputs = {}, bool reverse = false,
                         int64_t dim = 0);
template <class F>
std::vector<Tensor> scan_length(F combine_fn, std::vector<Tensor> init, int64_t length,
                                std::vector<Tensor> additional_inputs = {});

namespace control_flow {

// The arguments of a call. Throws what is wrong with them.
struct ScanCall {
  explicit ScanCall(const std::vector<IValue>& stack);

  SymInt size() const { return xs[0].sym_size(0); }
  // Every tensor that the call is given.
  std::vector<Tensor> operands() const;
  // What combine_fn takes for slice i.
  std::vector<Tensor> inputs_at(const std::vector<Tensor>& carry, int64_t i) const;
  // Takes what combine_fn gave apart: the next carry stays, the slices are returned. RuntimeError
  // if the carry is not as `init`.
  std::vector<Tensor> take_slices(std::vector<Tensor>* results) const;

  FunctionArgument combine_fn;
  std::vector<Tensor> init, xs, additional;
};

std::vector<Tensor> call_scan(IValue combine_fn, std::vector<Tensor> init, std::vector<Tensor> xs,
                              std::vector<Tensor> additional, bool reverse, int64_t dim = 0);
std::vector<Tensor> call_scan_length(const IValue& combine_fn, std::vector<Tensor> init,
                                     int64_t length, std::vector<Tensor> additional);

}  // namespace control_flow

template <class F>
std::vector<Tensor> scan(F combine_fn, std::vector<Tensor> init, std::vector<Tensor> xs,
                         std::vector<Tensor> additional_inputs, bool reverse, int64_t dim) {
  return control_flow::call_scan(
      tensor_callable("higher_order::scan: combine_fn", std::move(combine_fn)), std::move(init),
      std::move(xs), std::move(additional_inputs), reverse, dim);
}

template <class F>
std::vector<Tensor> scan_length(F combine_fn, std::vector<Tensor> init, int64_t length,
                                std::vector<Tensor> additional_inputs) {
  return control_flow::call_scan_length(
      tensor_callable("higher_order::scan: combine_fn", std::move(combine_fn)), std::move(init),
      length, std::move(additional_inputs));
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_SCAN_H_
