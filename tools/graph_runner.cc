#include "switchboard/tools/graph_runner.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/saving/quote.h"

namespace sb::tools {
namespace {

// Calls f(name) for every tensor that an argument uses.
template <class F>
void for_each_name(const io::Argument& argument, F&& f) {
  if (const auto* ref = std::get_if<io::TensorRef>(&argument)) f(ref->name);
  if (const auto* refs = std::get_if<io::TensorRefs>(&argument))
    for (const io::TensorRef& ref : *refs) f(ref.name);
  if (const auto* refs = std::get_if<io::OptionalTensorRefs>(&argument))
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
  find_operators();
  find_last_uses();
  for (const io::OutputSpec& output : program_.outputs)
    if (output.kind != io::OutputKind::User) mutated_input(output);  // throws if there is none
}

void GraphRunner::find_operators() {
  std::vector<size_t> unknown;  // the first node of each unknown operator
  absl::flat_hash_set<std::string> unknown_names;
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    const std::string name = program_.nodes[i].target();
    if (const std::optional<OperatorHandle> op = dispatcher_.find_op(name)) {
      at_node(program_, i, [&] { check_node(program_.nodes[i], op->schema()); });
      steps_.push_back({*op, {}});
    } else if (unknown_names.insert(name).second) {
      unknown.push_back(i);
    }
  }
  if (unknown.empty()) return;
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
}

void GraphRunner::find_last_uses() {
  absl::flat_hash_map<std::string, size_t> last_use;
  for (size_t i = 0; i < program_.nodes.size(); ++i) {
    const io::Node& node = program_.nodes[i];
    for (const io::NamedArgument& input : node.inputs)
      for_each_name(input.value, [&](const std::string& name) { last_use[name] = i; });
    for (const io::NodeOutput& output : node.outputs)
      std::visit(
          [&](const auto& o) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(o)>, io::None>)
              for_each_name(o, [&](const std::string& name) { last_use[name] = i; });
          },
          output);
  }
  for (const io::OutputSpec& output : program_.outputs)
    for_each_name(output.arg, [&](const std::string& name) { last_use.erase(name); });
  for (const auto& [name, node] : last_use) steps_[node].dropped_after.push_back(name);
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
  Environment environment;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined()) environment[program_.inputs[i].name] = inputs[i];
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (observer) observer->on_node(i);
    run_step(i, device, environment, observer);
    for (const std::string& name : steps_[i].dropped_after) environment.erase(name);
  }
  std::vector<Tensor> outputs;
  for (const io::OutputSpec& output : program_.outputs) {
    const auto* ref = std::get_if<io::TensorRef>(&output.arg);
    outputs.push_back(ref ? environment.at(ref->name) : Tensor());
  }
  write_back(inputs, outputs);
  return outputs;
}

void GraphRunner::run_step(size_t index, Device device, Environment& environment,
                           RunObserver* observer) const {
  const io::Node& node = program_.nodes[index];
  const OperatorHandle& op = steps_[index].op;
  const auto define = [&](const io::TensorRef& ref, const Tensor& tensor) {
    if (observer) observer->on_value(index, ref.name, tensor);
    environment[ref.name] = tensor;
  };
  at_node(program_, index, [&] {
    Stack stack = bind_node(node, op.schema(), environment, device);
    op.call_boxed(&stack);
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
  });
}

void GraphRunner::write_back(absl::Span<const Tensor> inputs,
                             absl::Span<const Tensor> outputs) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (program_.outputs[i].kind == io::OutputKind::User) continue;
    const Tensor& target = inputs[mutated_input(program_.outputs[i])];
    if (!target.is_same(outputs[i]))
      dispatcher_.find_op_or_throw("aten::copy_").call({target, outputs[i]});
  }
}

}  // namespace sb::tools
