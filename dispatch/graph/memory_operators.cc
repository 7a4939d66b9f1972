#include "switchboard/dispatch/graph/memory_operators.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace sb::internal {

bool copies_memory(const OperatorHandle& op) {
  static const auto* const names = new absl::flat_hash_set<std::string_view>{
      "aten::as_strided_copy", "aten::_reshape_alias_copy", "aten::resize", "aten::resize_as"};
  return names->contains(op.name().name);
}

bool looks_at_memory(const OperatorHandle& op) {
  static const auto* const names = new absl::flat_hash_set<std::string_view>{
      "aten::as_strided", "aten::as_strided_", "aten::_reshape_alias", "aten::as_strided_scatter",
      "aten::resize_",    "aten::resize_as_",  "aten::set_",           "aten::set"};
  return names->contains(op.name().name) || copies_memory(op);
}

namespace {

// The first result that is of another factorization where a matrix lies otherwise; the results
// before it are the same.
std::optional<size_t> first_of_layout(const Node& node) {
  if (node.kind() != Node::Kind::Call) return std::nullopt;
  const std::string& name = node.op().name().name;
  if (name == "aten::_linalg_det" || name == "aten::_linalg_solve_ex") return 1;
  if (name == "aten::_linalg_slogdet") return 2;
  return std::nullopt;
}

bool is_used(const Graph& graph, const Node* node) {
  for (size_t i = 0; i < graph.size(); ++i)
    for (const GraphArg& argument : graph[i].arguments()) {
      bool found = false;
      argument.for_each_node([&](const Node* used) { found = found || used == node; });
      if (found) return true;
    }
  return false;
}

// The operator of which the node is such a result, where something is made of it; or null.
const Node* maker_of_layout(const Graph& graph, const Node& node) {
  if (node.kind() != Node::Kind::GetItem) return nullptr;
  const Node* const from = node.arguments()[0].node();
  const std::optional<size_t> first = first_of_layout(*from);
  return first && node.item() >= *first && is_used(graph, &node) ? from : nullptr;
}

}  // namespace

std::string find_look_at_memory(const Graph& graph) {
  return find_operator(graph, [](const Node& call) { return looks_at_memory(call.op()); });
}

std::string find_factorization(const Graph& graph, const std::function<bool(const Node*)>& of) {
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node* const maker = maker_of_layout(graph, graph[i]);
    if (maker && of(maker)) return maker->op().name().to_string();
    for (const GraphArg& argument : graph[i].arguments()) {
      if (!argument.subgraph()) continue;
      // Which of its tensors lie otherwise is for whoever traced it to ask.
      std::string name = find_factorization(*argument.subgraph()->graph, of);
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
