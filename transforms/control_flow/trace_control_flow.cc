#include "switchboard/transforms/control_flow/trace_control_flow.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"

namespace sb::control_flow {
namespace {

// A tensor of the same elements, sizes and strides in memory of its own.
Tensor copy_with_strides(const Tensor& t) {
  int64_t extent = t.numel() == 0 ? 0 : 1;
  for (int64_t d = 0; extent != 0 && d < t.dim(); ++d) extent += (t.size(d) - 1) * t.stride(d);
  const Tensor memory = as_strided(t, {extent}, {1}, t.storage_offset());
  return as_strided(clone(memory), t.sizes(), t.strides(), 0);
}

// Whether what a schema returns may share memory with an argument.
bool shares_memory(const Argument& argument, const FunctionSchema& schema) {
  if (!argument.alias) return false;
  for (const Return& r : schema.returns) {
    if (!r.alias) continue;
    for (const std::string& set : r.alias->before) {
      for (const std::string& from : argument.alias->before)
        if (set == from || set == "*" || from == "*") return true;
      for (const std::string& from : argument.alias->after)
        if (set == from || set == "*" || from == "*") return true;
    }
  }
  return false;
}

// Throws if a call in the graph writes to an input, to a constant or to a view of one.
void check_writes(const FunctionArgument& function, const Graph& graph) {
  absl::flat_hash_map<const Node*, const Node*> outside;  // and what it is a view of
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    if (node.kind() == Node::Kind::Placeholder || node.kind() == Node::Kind::Constant) {
      outside.emplace(&node, &node);
    } else if (node.kind() == Node::Kind::GetItem) {
      const auto found = outside.find(node.arguments()[0].node());
      if (found == outside.end()) continue;
      const Node* const root = found->second;  // a copy: adding may move the elements
      outside.emplace(&node, root);
    } else if (node.kind() == Node::Kind::Call) {
      const FunctionSchema& schema = node.op().schema();
      for (size_t a = 0; a < schema.arguments.size(); ++a) {
        node.arguments()[a].for_each_node([&](const Node* used) {
          const auto found = outside.find(used);
          if (found == outside.end()) return;
          const Node* const root = found->second;
          SB_CHECK(!schema.arguments[a].is_write(), function.name(), ": ",
                   node.op().name().to_string(), " writes to ",
                   root->kind() == Node::Kind::Placeholder ? "the input '" : "the constant '",
                   root->name(), "'; it must write to a clone");
          if (shares_memory(schema.arguments[a], schema)) outside.emplace(&node, root);
        });
      }
    }
  }
}

}  // namespace

TracedFunction trace_function(TracingMode& mode, const FunctionArgument& function,
                              const std::string& graph_name, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> copies;
  for (const Tensor& input : inputs) copies.push_back(copy_with_strides(input));
  std::vector<Tensor> results;
  const TraceOptions options{.refuse_data_dependent = mode.options().refuse_data_dependent};
  const auto graph = std::make_shared<const Graph>(mode.trace_subgraph(
      [&](const std::vector<Tensor>& given) { return results = function(given); }, copies,
      options));
  check_writes(function, *graph);
  return {{graph_name, graph}, std::move(results)};
}

void run_and_record(TracingMode& mode, const HigherOrderOperator& op, Stack* stack,
                    std::shared_ptr<const HigherOrderTarget> target,
                    std::vector<GraphArg> arguments) {
  op.call_boxed(stack);
  Node* const node = mode.graph().call_higher_order(std::move(target), std::move(arguments));
  // One tensor stands for one node. A result may be an operand or a tensor that a function
  // captured, and those are still what they were.
  for (IValue& result : *stack) result = Tensor(result.to_tensor().impl()->shallow_copy());
  mode.track_results(node, *stack);
}

IValue graph_callable(std::shared_ptr<const Graph> graph) {
  return Callable::make([graph = std::move(graph)](std::vector<IValue> inputs) {
    return graph->run_values(std::move(inputs));
  });
}

}  // namespace sb::control_flow
