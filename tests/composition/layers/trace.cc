#include <exception>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/flip.h"
#include "switchboard/tests/composition/layers.h"

namespace sb::composition {
namespace {

// Inputs with other elements, so that what a trace takes from them by mistake is seen: those of
// floating point and complex numbers in the opposite order.
Tensors other_inputs(const Tensors& inputs, const internal::ArgumentPlan& plan) {
  Tensors memories;
  for (const Tensor& memory : memories_of(inputs, plan)) {
    const bool turn = is_floating_point(memory.dtype()) || is_complex(memory.dtype());
    std::vector<int64_t> dims;
    for (int64_t d = 0; turn && d < memory.dim(); ++d) dims.push_back(d);
    memories.push_back(dims.empty() ? clone(memory) : clone(flip(memory, dims)));
  }
  return inputs_in(memories, plan);
}

// Whether the data tell a size. A graph that is traced on tensors with data burns in what the
// program computes with it.
bool has_size_of_data(const Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    if (node.kind() == Node::Kind::Call && node.op().entry().has_tag(Tag::dynamic_output_shape))
      return true;
    for (const GraphArg& argument : node.arguments())
      if (argument.subgraph() && has_size_of_data(*argument.subgraph()->graph)) return true;
  }
  return false;
}

Graph graph_of(const TensorFunction& f, const Tensors& inputs, const internal::ArgumentPlan& plan) {
  try {
    Graph graph = trace(f, other_inputs(inputs, plan));
    if (!has_size_of_data(graph)) return graph;
  } catch (const std::exception&) {
    // The program may not like those.
  }
  return trace(f, copy_by_operators(inputs, plan).inputs);
}

}  // namespace

Layer trace_layer() {
  return {.name = "trace",
          .wrap = [](TensorFunction f, const internal::ArgumentPlan& plan) -> TensorFunction {
            return [f = std::move(f), &plan](const Tensors& inputs) {
              const Graph graph = graph_of(f, inputs, plan);
              graph.lint();
              return graph.run(inputs);
            };
          },
          .words = {"trac", "graph"}};
}

}  // namespace sb::composition
