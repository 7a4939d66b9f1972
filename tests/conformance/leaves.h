// Gradients of programs: the tensors that require them, going backward, and what came.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_LEAVES_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_LEAVES_H_

#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tests/conformance/arguments.h"
#include "switchboard/tests/conformance/compare.h"

namespace sb::conformance {

// The inputs of a program, made of leaves that require gradients.
struct Leaves {
  std::vector<Arguments::Named> leaves;
  std::vector<Tensor> inputs;
};
// `kind` is "inputs": every input that can have a gradient is a leaf, "inputs.0"; or "clones":
// there is a leaf for each storage of such inputs, "leaves.0", and the inputs are, or lie in, a
// clone of it.
Leaves make_leaves(const Json& inputs, const std::string& kind, Place& place,
                   const Dispatcher& dispatcher);

// Outputs from which to go backward, each with its gradient.
struct Roots {
  std::vector<Tensor> tensors;
  std::vector<Tensor> grads;
};
// `grad_outputs` is null for an output that must not require a gradient.
Difference find_roots(const std::vector<Tensor>& outputs, const Json& grad_outputs, Place& place,
                      Roots* roots);

// dtype, shape and elements.
Difference compare_tensor(const Json& expected, const Tensor& tensor, Place& place,
                          Tolerance tolerance);

// Whether a leaf that is not named may have got zeros. An undefined gradient is always right.
enum class Unnamed : bool { None, NoneOrZeros };
// `expected` names leaves by path; `gradient` gives what came to one.
Difference compare_gradients(const Json& expected, const std::vector<Arguments::Named>& leaves,
                             const std::function<Tensor(size_t leaf)>& gradient, Unnamed unnamed,
                             Place& place, Tolerance tolerance);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_LEAVES_H_
