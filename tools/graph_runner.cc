#include "switchboard/tools/graph_runner.h"

#include <optional>
#include <type_traits>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/saving/quote.h"

namespace sb::tools {
namespace {

// Calls f(name) for every tensor that an argument, or a node's output, uses or names.
template <class Value, class F>
void for_each_name(const Value& value, F&& f) {
  if (const auto* ref = std::get_if<io::TensorRef>(&value)) f(ref->name);
  if (const auto* refs = std::get_if<io::TensorRefs>(&value))
    for (const io::TensorRef& ref : *refs) f(ref.name);
  if constexpr (std::is_same_v<Value, io::Argument>)
    if (const auto* refs = std::get_if<io::OptionalTensorRefs>(&value))
      for (const auto& ref : *refs)
        if (ref) f(ref->name);
}

// Runs f(); an error gets the place of the node before it.
template <class F>
auto at_node(const io::Program& program, size_t node, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    rethrow_with_context(error, program.place_of(node) + ": ");
  }
}

}  // namespace

GraphRunner::GraphRunner(const io::Program& program, const Dispatcher& dispatcher)
    : program_(program), dispatcher_(dispatcher) {
  for (const io::InputSpec& input : program_.inputs) inputs_.push_back(place(input.name));
  bind_nodes(find_operators());
  find_results();
  find_last_uses();
}

// The place of a name, a new one for a new name.
size_t GraphRunner::place(const std::string& name) {
  return places_.try_emplace(name, places_.size()).first->second;
}

std::vector<OperatorHandle> GraphRunner::find_operators() const {
  std::vector<OperatorHandle> found;
  std::vector<size_t> unknown;  // the first node of each unknown operator
  absl::flat_hash_set<std::string> unknown_names;
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    const std::string name = program_.nodes[i].target();
    if (const std::optional<OperatorHandle> op = dispatcher_.find_op(name))
      found.push_back(*op);
    else if (unknown_names.insert(name).second)
      unknown.push_back(i);
  }
  if (unknown.empty()) return found;
  at_node(program_, unknown[0], [&] {
    try {
      dispatcher_.find_op_or_throw(program_.nodes[unknown[0]].target());
    } catch (const Error& error) {
      std::string others;
      for (size_t k = 1; k < unknown.size(); ++k)
        others += (k > 1 ? ", " : "") + program_.nodes[unknown[k]].target();
      SB_THROW(RuntimeError, error.what(), others.empty() ? "" : "; also unknown: ", others);
    }
  });
  return found;
}

void GraphRunner::bind_nodes(absl::Span<const OperatorHandle> operators) {
  for (size_t i = 0; i < operators.size(); ++i) {
    const io::Node& node = program_.nodes[i];
    at_node(program_, i, [&] {
      steps_.push_back({NodeCall(node, operators[i], places_), {}, {}});
    });
    for (const io::NodeOutput& output : node.outputs)
      for_each_name(output,
                    [&](const std::string& name) { steps_[i].results.push_back(place(name)); });
  }
}

void GraphRunner::find_results() {
  for (const io::OutputSpec& output : program_.outputs) {
    Result result;
    for_each_name(output.arg, [&](const std::string& name) { result.place = places_.at(name); });
    if (output.kind != io::OutputKind::User) result.written_back = mutated_input(output);
    results_.push_back(result);
  }
}

void GraphRunner::find_last_uses() {
  std::vector<std::optional<size_t>> last_use(places_.size());
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    for (const io::NamedArgument& input : program_.nodes[i].inputs)
      for_each_name(input.value, [&](const std::string& name) { last_use[places_.at(name)] = i; });
    for (const size_t result : steps_[i].results) last_use[result] = i;
  }
  for (const Result& result : results_)
    if (result.place) last_use[*result.place].reset();
  for (size_t place = 0; place < last_use.size(); ++place)
    if (last_use[place]) steps_[*last_use[place]].dropped_after.push_back(place);
}

size_t GraphRunner::mutated_input(const io::OutputSpec& output) const {
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const io::InputSpec& input = program_.inputs[i];
    switch (output.kind) {
      case io::OutputKind::BufferMutation:
        if (input.kind == io::InputKind::Buffer && input.target == output.target) return i;
        break;
      case io::OutputKind::ParameterMutation:
        if (input.kind == io::InputKind::Parameter && input.target == output.target) return i;
        break;
      default:
        if (input.kind == io::InputKind::User && input.name == output.target) return i;
    }
  }
  SB_THROW(ValueError, program_.origin, ": an output is to be written to ",
           io::quote(output.target), ", which is no input");
}

std::vector<Tensor> GraphRunner::run(absl::Span<const Tensor> inputs, Device device,
                                     RunObserver* observer) const {
  SB_ASSERT(inputs.size() == program_.inputs.size());
  std::vector<Tensor> values(places_.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined()) values[inputs_[i]] = inputs[i];
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (observer) observer->on_node(i);
    at_node(program_, i, [&] { run_step(i, device, absl::MakeSpan(values), observer); });
    for (const size_t place : steps_[i].dropped_after) values[place] = Tensor();
  }
  std::vector<Tensor> outputs;
  for (const Result& result : results_)
    outputs.push_back(result.place ? values[*result.place] : Tensor());
  write_back(inputs, outputs);
  return outputs;
}

void GraphRunner::run_step(size_t index, Device device, absl::Span<Tensor> values,
                           RunObserver* observer) const {
  const io::Node& node = program_.nodes[index];
  const Step& step = steps_[index];
  Stack stack = step.call.arguments(values, device);
  step.call.op().call_boxed(&stack);
  size_t next = 0;
  const auto define = [&](const io::TensorRef& ref, const Tensor& tensor) {
    if (observer) observer->on_value(index, ref.name, tensor);
    values[step.results[next++]] = tensor;
  };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (const auto* ref = std::get_if<io::TensorRef>(&node.outputs[i]))
      define(*ref, stack[i].to_tensor());
    if (const auto* refs = std::get_if<io::TensorRefs>(&node.outputs[i])) {
      const TensorList tensors = stack[i].to_tensor_list();
      SB_CHECK(tensors.size() == refs->size(), node.target(), ": returned ", tensors.size(),
               " tensors, the node names ", refs->size());
      for (size_t k = 0; k < tensors.size(); ++k) define((*refs)[k], tensors[k]);
    }
  }
}

void GraphRunner::write_back(absl::Span<const Tensor> inputs,
                             absl::Span<const Tensor> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!results_[i].written_back) continue;
    const Tensor& target = inputs[*results_[i].written_back];
    if (!target.is_same(outputs[i]))
      dispatcher_.find_op_or_throw("aten::copy_").call({target, outputs[i]});
  }
}

}  // namespace sb::tools
