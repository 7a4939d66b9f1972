// The layers: what a program may run under without becoming another program.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_LAYERS_H_
#define SWITCHBOARD_TESTS_COMPOSITION_LAYERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/custom_ops/opcheck/argument_plan.h"
#include "switchboard/tests/composition/program.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::composition {

// What is kept of eager's answer besides elements, sizes and dtypes.
struct Keeps {
  bool strides = true;
  // Which results share memory with one another.
  bool sharing_of_results = true;
};

struct Layer {
  std::string_view name;
  // The function under the layer. `inputs` says how the inputs lie in memory.
  TensorFunction (*wrap)(TensorFunction f, const internal::ArgumentPlan& inputs);
  // What the outermost layer runs on in the place of the inputs; null for the inputs themselves.
  Tensors (*inputs)(const Tensors& inputs) = nullptr;
  Keeps keeps = {};
  // Its functions may not write to their inputs, nor give them, or views of them, or of one
  // another, as results.
  bool pure_only = false;
  // Words by which an error of the layer says that it is one.
  std::vector<std::string_view> words = {};
};

Layer grad_layer();             // results, then the gradients and second gradients of the inputs
Layer functionalize_layer();    // functionalize()
Layer functional_mode_layer();  // FunctionalMode
Layer trace_layer();            // a graph, traced with other inputs
Layer trace_symbols_layer();    // a graph, traced on fake tensors whose sizes are symbols
Layer fake_layer();             // fake tensors, in their mode; outermost
Layer watch_layer();            // modes that only watch
Layer body_layer();             // the body of a cond, in that of a map
Layer custom_layer();           // a custom operator

// All of them. The order in a stack is from the inside out.
const std::vector<Layer>& all_layers();
// Throws ValueError for a name that is none.
const Layer& find_layer(std::string_view name);

// Copies of inputs that lie in memory in the same way, by operators, so that whoever looks sees
// them made: the memories first, which have the elements, and then the inputs.
struct Copies {
  Tensors memories;
  Tensors inputs;
};
Copies copy_by_operators(const Tensors& inputs, const internal::ArgumentPlan& plan);
// The same, recorded: the memories are clones of `leaves`, those of them that are differentiable.
struct RecordedCopies {
  Tensors leaves;
  Copies copies;
};
RecordedCopies copy_recorded(const Tensors& inputs, const internal::ArgumentPlan& plan);
// The memories of the inputs, each in one dimension, or with the shape of its only input where that
// covers it.
Tensors memories_of(const Tensors& inputs, const internal::ArgumentPlan& plan);
// The inputs in such memories.
Tensors inputs_in(const Tensors& memories, const internal::ArgumentPlan& plan);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_LAYERS_H_
