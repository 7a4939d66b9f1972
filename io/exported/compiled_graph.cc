#include "switchboard/io/exported/compiled_graph.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

// Runs f(); an error gets the place of the node before it.
template <class F>
auto at_node(const Graph& graph, size_t node, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    rethrow_with_context(error, graph.place_of(node) + ": ");
  }
}

std::unique_ptr<NodeStep> make_step(const Node& node, const Dispatcher& dispatcher,
                                    const Places& places) {
  switch (node.kind) {
    case TargetKind::Operator:
      return make_operator_step(node, dispatcher.find_op_or_throw(node.target()), places);
    case TargetKind::HigherOrder:
      return make_higher_order_step(node, dispatcher, places);
    case TargetKind::SymFunction:
      return make_sym_function_step(node, places);
    case TargetKind::Other:
      break;
  }
  SB_THROW(NotImplementedError, "target ", quote(node.op),
           " is not supported; expected torch.ops.NAMESPACE.OP.OVERLOAD or a function of numbers");
}

// A constant among a graph's outputs.
IValue constant_of(const Argument& argument) {
  const auto visitor = [&]<class T>(const T& value) -> IValue {
    if constexpr (std::is_same_v<T, None>)
      return {};
    else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                       std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
      return value;
    else
      SB_THROW(NotImplementedError, "an output that is a ", kind_of(argument), " is not supported");
  };
  return std::visit(visitor, argument);
}

}  // namespace

CompiledGraph::CompiledGraph(const Graph& graph, const Dispatcher& dispatcher) : graph_(graph) {
  for (const Argument& input : graph_.inputs) {
    std::optional<size_t> at;
    for_each_name(input, [&](const std::string& name) { at = place(name); });
    inputs_.push_back(at);
  }
  results_.resize(graph_.nodes.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    at_node(graph_, i, [&] {
      steps_.push_back({make_step(graph_.nodes[i], dispatcher, places_), {}});
    });
    for (const Argument& output : graph_.nodes[i].outputs)
      for_each_name(output, [&](const std::string& name) { results_[i].push_back(place(name)); });
  }
  for (const Argument& output : graph_.outputs) {
    Output result;
    const bool is_one = std::holds_alternative<TensorRef>(output) ||
                        std::holds_alternative<SymRef>(output) ||
                        std::holds_alternative<TokenRef>(output);
    if (is_one)
      for_each_name(output, [&](const std::string& name) { result.place = places_.at(name); });
    if (!result.place) result.constant = constant_of(output);
    outputs_.push_back(std::move(result));
  }
  find_last_uses();
}

// The place of a name, a new one for a new name.
size_t CompiledGraph::place(const std::string& name) {
  return places_.try_emplace(name, places_.size()).first->second;
}

void CompiledGraph::find_last_uses() {
  std::vector<std::optional<size_t>> last_use(places_.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const NamedArgument& input : graph_.nodes[i].inputs)
      for_each_name(input.value, [&](const std::string& name) { last_use[places_.at(name)] = i; });
    for (const size_t result : results_[i]) last_use[result] = i;
  }
  for (const Output& output : outputs_)
    if (output.place) last_use[*output.place].reset();
  for (size_t place = 0; place < last_use.size(); ++place)
    if (last_use[place]) steps_[*last_use[place]].dropped_after.push_back(place);
}

std::vector<IValue> CompiledGraph::run(std::vector<IValue> inputs,
                                       const RunContext& context) const {
  SB_CHECK_TYPE(inputs.size() == inputs_.size(), graph_.place, ": the graph takes ", inputs_.size(),
                " values, got ", inputs.size());
  std::vector<IValue> values(places_.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i]) values[*inputs_[i]] = std::move(inputs[i]);
  inputs.clear();
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (context.observer) context.observer->on_node(graph_, i);
    at_node(graph_, i, [&] { run_step(i, context, &values); });
    for (const size_t place : steps_[i].dropped_after) values[place] = IValue();
  }
  std::vector<IValue> outputs;
  outputs.reserve(outputs_.size());
  for (const Output& output : outputs_)
    outputs.push_back(output.place ? values[*output.place] : output.constant);
  return outputs;
}

void CompiledGraph::run_step(size_t index, const RunContext& context,
                             std::vector<IValue>* values) const {
  const Node& node = graph_.nodes[index];
  Stack results = steps_[index].run->run(*values, context);
  SB_CHECK_TYPE(results.size() == node.outputs.size(), node.target(), ": gave ", results.size(),
                " values, the node names ", node.outputs.size());
  size_t next = 0;
  const auto define = [&](const std::string& name, IValue value) {
    if (context.observer) context.observer->on_value(graph_, index, name, value);
    (*values)[results_[index][next++]] = std::move(value);
  };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Argument& output = node.outputs[i];
    if (const auto* ref = std::get_if<TensorRef>(&output)) {
      define(ref->name, std::move(results[i]).to_tensor());
    } else if (const auto* number = std::get_if<SymRef>(&output)) {
      define(number->name, std::move(results[i]));
    } else if (std::holds_alternative<TokenRef>(output)) {
      ++next;  // tokens order nodes, which run in their order
    } else if (const auto* refs = std::get_if<TensorRefs>(&output)) {
      const TensorList tensors = results[i].to_tensor_list();
      SB_CHECK(tensors.size() == refs->size(), node.target(), ": returned ", tensors.size(),
               " tensors, the node names ", refs->size());
      for (size_t k = 0; k < tensors.size(); ++k) define((*refs)[k].name, tensors[k]);
    } else {
      // Whatever else has names keeps their order.
      for_each_name(output, [&](const std::string& name) {
        SB_THROW(NotImplementedError, node.target(), ": output ", quote(name), ": a ",
                 kind_of(output), " is not supported");
      });
    }
  }
}

}  // namespace sb::io
