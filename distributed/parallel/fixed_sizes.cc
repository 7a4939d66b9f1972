#include "switchboard/distributed/parallel/fixed_sizes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace sb {
namespace {

using Numbers = absl::flat_hash_map<std::string, SymValue>;

io::Argument number_of(const SymValue& value) {
  switch (value.kind()) {
    case SymKind::Float:
      return value.as_float();
    case SymKind::Bool:
      return value.as_bool();
    default:
      return value.as_int();
  }
}

io::Argument fixed(const io::Argument& argument, const Numbers& numbers) {
  if (const auto* ref = std::get_if<io::SymRef>(&argument)) {
    const auto known = numbers.find(ref->name);
    return known == numbers.end() ? argument : number_of(known->second);
  }
  const auto* list = std::get_if<io::SymInts>(&argument);
  if (!list) return argument;
  io::SymInts mixed = *list;
  std::vector<int64_t> plain;
  for (auto& item : mixed) {
    if (const auto* ref = std::get_if<io::SymRef>(&item))
      if (const auto known = numbers.find(ref->name); known != numbers.end())
        item = known->second.as_int();
    if (const auto* number = std::get_if<int64_t>(&item)) plain.push_back(*number);
  }
  if (plain.size() == mixed.size()) return plain;
  return mixed;
}

// Whether all that the node gives is a number that somebody may not need.
bool gives_numbers(const io::Node& node) {
  return !node.outputs.empty() && std::ranges::all_of(node.outputs, [](const io::Argument& output) {
    return std::holds_alternative<io::SymRef>(output);
  });
}

void remove_unused_numbers(io::Graph* graph) {
  absl::flat_hash_set<std::string> used;
  const auto use = [&](const std::string& name) { used.insert(name); };
  for (const io::Argument& output : graph->outputs) io::for_each_name(output, use);
  std::vector<io::Node> kept;
  for (auto node = graph->nodes.rbegin(); node != graph->nodes.rend(); ++node) {
    bool needed = !gives_numbers(*node);
    for (const io::Argument& output : node->outputs)
      io::for_each_name(output, [&](const std::string& name) { needed |= used.contains(name); });
    if (!needed) continue;
    for (const io::NamedArgument& input : node->inputs) io::for_each_name(input.value, use);
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  graph->nodes = std::move(kept);
}

}  // namespace

io::Graph with_fixed_sizes(const io::Graph& graph, const io::SymbolValues& symbols) {
  Numbers numbers;
  for (const auto& [name, expression] : graph.sym_values)
    if (expression.is_known(symbols)) numbers.emplace(name, expression.evaluate(symbols));
  io::Graph result = graph;
  for (io::Node& node : result.nodes)
    if (node.kind == io::TargetKind::Operator)
      for (io::NamedArgument& input : node.inputs) input.value = fixed(input.value, numbers);
  for (io::Argument& output : result.outputs) output = fixed(output, numbers);
  remove_unused_numbers(&result);
  return result;
}

}  // namespace sb
