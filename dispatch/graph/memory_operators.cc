#include "switchboard/dispatch/graph/memory_operators.h"

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace sb::internal {

bool looks_at_memory(const OperatorHandle& op) {
  static const auto* const names = new absl::flat_hash_set<std::string_view>{
      "aten::as_strided", "aten::as_strided_", "aten::as_strided_copy", "aten::_reshape_alias",
      "aten::_reshape_alias_copy", "aten::as_strided_scatter", "aten::resize_", "aten::resize_as_",
      "aten::resize", "aten::resize_as", "aten::set_", "aten::set",
      // Which of two factorizations they give hangs on
      // strides.
      "aten::_linalg_det", "aten::_linalg_slogdet", "aten::_linalg_solve_ex"};
  return names->contains(op.name().name);
}

std::string find_look_at_memory(const Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[i];
    if (node.kind() == Node::Kind::Call && looks_at_memory(node.op()))
      return node.op().name().to_string();
    for (const GraphArg& argument : node.arguments()) {
      if (!argument.subgraph()) continue;
      std::string name = find_look_at_memory(*argument.subgraph()->graph);
      if (!name.empty()) return name;
    }
  }
  return "";
}

bool comes_of(const Node* node, const Node* source) {
  absl::flat_hash_set<const Node*> seen{node};
  std::vector<const Node*> waiting{node};
  while (!waiting.empty() && !seen.contains(source)) {
    const Node* const next = waiting.back();
    waiting.pop_back();
    for (const GraphArg& argument : next->arguments())
      argument.for_each_node([&](const Node* of) {
        if (seen.insert(of).second) waiting.push_back(of);
      });
  }
  return seen.contains(source);
}

}  // namespace sb::internal
