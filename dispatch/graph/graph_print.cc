// Graphs as code.

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

// `path` comes before the names of subgraphs.
std::string argument_text(const GraphArg& argument, const std::string& path = "") {
  if (const Node* const node = argument.node()) return node->name();
  if (const Subgraph* const sub = argument.subgraph()) return path + sub->name;
  if (const GraphArg::List* const list = argument.list()) {
    std::vector<std::string> items;
    for (const GraphArg& item : list->items) items.push_back(argument_text(item, path));
    return str_cat("[", absl::StrJoin(items, ", "), "]");
  }
  return value_text(*argument.constant(), [](const Tensor& t) {
    const std::string number = wrapped_number_text(t);
    return number.empty() ? type_text(t) : number;
  });
}

std::string arguments_in_order(const Node& node, const std::string& path = "") {
  std::vector<std::string> parts;
  for (const GraphArg& argument : node.arguments()) parts.push_back(argument_text(argument, path));
  return absl::StrJoin(parts, ", ");
}

// The symbol that the node gives, and what orders it among those with an effect.
std::string remark_text(const Node& node) {
  return str_cat(node.number() ? str_cat("  # ", node.number()->node()->to_string()) : "",
                 node.token() == 0 ? "" : str_cat("  # token ", node.token()));
}

std::string call_text(const Node& node) {
  const OperatorHandle& op = node.op();
  const std::string name = op.name().to_string();
  // The schema went with the operator.
  if (op.entry().dead())
    return str_cat(node.name(), " = ", name, "(", arguments_in_order(node), ")  # removed");
  const FunctionSchema& schema = op.schema();
  const auto is_default = [&](size_t i) {
    const IValue* const constant = node.arguments()[i].constant();
    const std::optional<IValue>& value = schema.arguments[i].default_value;
    return constant && value && is_same_constant(*constant, *value);
  };
  const std::string arguments = arguments_text(
      schema, is_default, [&](size_t i) { return argument_text(node.arguments()[i]); });
  const std::string call = str_cat(name, "(", arguments, ")", remark_text(node));
  return schema.returns.empty() ? call : str_cat(node.name(), " = ", call);
}

std::string line_text(const Node& node, const std::string& path) {
  switch (node.kind()) {
    case Node::Kind::Placeholder:
      break;
    case Node::Kind::Constant:
      return str_cat(node.name(), " = self.", node.name(), "  # ", type_text(node.constant()));
    case Node::Kind::Call:
      return call_text(node);
    case Node::Kind::HigherOrder:
      return str_cat(node.name(), " = ", node.higher_order().name(), "(",
                     arguments_in_order(node, path), ")", remark_text(node));
    case Node::Kind::GetItem:
      return str_cat(node.name(), " = ", arguments_in_order(node), "[", node.item(), "]",
                     remark_text(node));
    case Node::Kind::Output:
      return str_cat("return (", arguments_in_order(node),
                     node.arguments().size() == 1 ? ",)" : ")");
  }
  return "";
}

}  // namespace

std::string Graph::text(const std::string& name, const std::string& path) const {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < num_inputs_; ++i) {
    const Node& input = *nodes_[i];
    inputs.push_back(
        !input.arguments().empty() ? str_cat(input.name(), " = ", arguments_in_order(input))
        : input.meta()             ? str_cat(input.name(), ": ", input.meta()->to_string())
        : input.object_guard()     ? str_cat(input.name(), ": ", input.object_guard()->class_name)
                                   : input.name());
  }
  std::string out = str_cat(name, "(", absl::StrJoin(inputs, ", "), "):\n");
  std::string subgraphs;
  absl::flat_hash_set<std::string_view> printed;
  for (size_t i = num_inputs_; i < nodes_.size(); ++i) {
    out += str_cat("  ", line_text(*nodes_[i], path), "\n");
    for (const GraphArg& argument : nodes_[i]->arguments()) {
      const Subgraph* const sub = argument.subgraph();
      if (!sub || !printed.insert(sub->name).second) continue;
      const std::string name_of_sub = path + sub->name;
      subgraphs += str_cat("\n", sub->graph->text(name_of_sub, name_of_sub + "."));
    }
  }
  return out + subgraphs;
}

std::string Graph::to_string() const { return text("graph", ""); }

}  // namespace sb
