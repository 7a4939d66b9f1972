// Running results of a function that combines two slices into one.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_ASSOCIATIVE_SCAN_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_ASSOCIATIVE_SCAN_H_

#include <utility>
#include <vector>

#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {

// `higher_order::associative_scan(combine_fn, xs, additional_inputs)`: a Callable and two lists of
// tensors. As `torch.ops.higher_order.associative_scan`. It is composed of a scan, which modes and
// transforms see in its place.
HigherOrderOperator& associative_scan_op();

// For each i of dimension `dim` of the xs, the slices 0 to i combined, stacked along that
// dimension: combine_fn(left..., right...) takes one slice of each of the xs twice and gives one
// for each. With `reverse`, the slices i to the last, combined from the last on. As
// `torch.associative_scan` with combine_mode "generic"; a function of which the order of evaluation
// matters gets that of a loop, where PyTorch has a tree. Of no slices the results are empty.
//
//   Tensor sums = associative_scan([](const Tensor& a, const Tensor& b) { return a + b; }, {x})[0];
//
// Throws RuntimeError as scan (scan.h), and if combine_fn does not give one tensor for each of the
// xs with the dtype, sizes and device of its slices.
template <class F>
std::vector<Tensor> associative_scan(F combine_fn, std::vector<Tensor> xs, bool reverse = false,
                                     int64_t dim = 0);

namespace control_flow {

std::vector<Tensor> call_associative_scan(IValue combine_fn, std::vector<Tensor> xs, bool reverse,
                                          int64_t dim = 0);

}  // namespace control_flow

template <class F>
std::vector<Tensor> associative_scan(F combine_fn, std::vector<Tensor> xs, bool reverse,
                                     int64_t dim) {
  return control_flow::call_associative_scan(
      tensor_callable("higher_order::associative_scan: combine_fn", std::move(combine_fn)),
      std::move(xs), reverse, dim);
}

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_ASSOCIATIVE_SCAN_H_
