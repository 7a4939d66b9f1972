// What a run of a program left, and how two of them differ.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_COMPARE_H_
#define SWITCHBOARD_TESTS_COMPOSITION_COMPARE_H_

#include <limits>
#include <string>

#include "switchboard/tests/composition/layers.h"

namespace sb::composition {

struct Outcome {
  std::string error;  // what was thrown; empty if nothing was
  std::string kind;   // "RuntimeError"; empty for what is no sb::Error
  Tensors results;
  Tensors inputs;  // as the run left them

  bool threw() const { return !error.empty(); }
};

// Runs the function on these inputs.
Outcome run(const TensorFunction& f, const Tensors& inputs);

struct Compared {
  Keeps keeps;
  bool metadata_only = false;  // fake tensors have nothing else
  // An input may have been set to a tensor whose strides are kept by nobody.
  bool input_strides = true;
  // Of which results nothing is said of what they share memory with; of those beyond it is.
  std::vector<bool> sharing_unknown = {};
  // With a derivative an operator may compute in another way (what that needs, too); what follows
  // magnifies how this was rounded.
  bool magnified = false;
  bool gradients = false;  // results are among others gradients, which are sums in some order
  // Of what gradients were computed from. An operator in place derives by what it gives, another
  // one by what it takes: they part by how that was rounded.
  DType coarsest = DType::Float64;
  // The largest number on the way to gradients: what is left of its like, when these cancel, is of
  // their last digits.
  double largest = 0;
  // From which result on NaN, on either side, is not compared. Where a derivative is infinite a
  // gradient of zeros gives NaN and none gives nothing, and layers part in which of both comes:
  // what is not written to has none, a loop that is not known to end has zeros.
  size_t no_nan_from = std::numeric_limits<size_t>::max();
};

// "" where two runs that did not throw gave the same: dtypes, sizes and elements of results, whole
// storages of inputs, which result is which input or shares memory with it, and what `compared`
// says. Else the first difference: "result 0, element [1] is 3, not 2".
std::string difference(const Outcome& expected, const Outcome& got, const Compared& compared);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_COMPARE_H_
