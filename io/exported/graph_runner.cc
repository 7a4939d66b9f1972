#include "switchboard/io/exported/graph_runner.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/missing.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {

GraphRunner::GraphRunner(const Program& program, const Dispatcher& dispatcher)
    : program_(program), dispatcher_(dispatcher) {
  check_nothing_missing(program_, dispatcher_);
  graph_ = std::make_unique<CompiledGraph>(program_.graph, dispatcher_);
  for (const OutputSpec& output : program_.outputs)
    written_back_.push_back(is_mutation(output.kind) ? std::optional<size_t>(mutated_input(output))
                                                     : std::nullopt);
}

size_t GraphRunner::mutated_input(const OutputSpec& output) const {
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputSpec& input = program_.inputs[i];
    switch (output.kind) {
      case OutputKind::BufferMutation:
        if (input.kind == InputKind::Buffer && input.target == output.target) return i;
        break;
      case OutputKind::ParameterMutation:
        if (input.kind == InputKind::Parameter && input.target == output.target) return i;
        break;
      default:
        if (input.kind == InputKind::User && input.name == output.target &&
            std::holds_alternative<TensorRef>(input.value))
          return i;
    }
  }
  SB_THROW(ValueError, program_.origin, ": an output is to be written to ", quote(output.target),
           ", which is no tensor input");
}

std::vector<IValue> GraphRunner::run(std::vector<IValue> inputs, Device device,
                                     RunObserver* observer) const {
  SB_ASSERT(inputs.size() == program_.inputs.size());
  std::vector<IValue> targets(inputs.size());  // keeps alive what is written to at the end
  for (const std::optional<size_t>& input : written_back_)
    if (input) targets[*input] = inputs[*input];
  const std::vector<IValue> outputs = graph_->run(std::move(inputs), {device, observer});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!written_back_[i]) continue;
    const Tensor& target = targets[*written_back_[i]].to_tensor();
    if (target.is_same(outputs[i].to_tensor())) continue;
    try {
      dispatcher_.find_op_or_throw("aten::copy_").call({target, outputs[i]});
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(program_.origin, ": the result that is written to ",
                                          quote(program_.outputs[i].target), ": "));
    }
  }
  return outputs;
}

}  // namespace sb::io
