#include "switchboard/tests/composition/law.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/tests/composition/judge.h"

namespace sb::composition {

std::vector<Tensor> call(std::string_view op, std::vector<IValue> arguments,
                         std::vector<std::pair<std::string, IValue>> keyword) {
  std::vector<Tensor> results;
  for (const IValue& value :
       default_dispatcher().find_op_or_throw(op).call(std::move(arguments), std::move(keyword)))
    value.for_each_tensor([&](const Tensor& t) { results.push_back(t); });
  return results;
}

namespace {

Verdict verdict_under(std::string_view layers, const TensorFunction& f,
                      const std::vector<Tensor>& inputs) {
  const Stack arguments(inputs.begin(), inputs.end());
  return Judge(f, internal::ArgumentPlan::of(arguments)).judge(parse_stack(layers));
}

std::string text_of(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Passed:
      return "passed";
    case Verdict::Kind::Refused:
      return "refused by " + verdict.op;
    case Verdict::Kind::DoesNotApply:
      return "does not apply";
    case Verdict::Kind::Failed:
      return verdict.message;
  }
  return "";
}

}  // namespace

std::string broken_by(std::string_view layers, const TensorFunction& f,
                      const std::vector<Tensor>& inputs) {
  const Verdict verdict = verdict_under(layers, f, inputs);
  return verdict.kind == Verdict::Kind::Failed ? verdict.message : "";
}

std::string broken(const std::vector<std::string_view>& stacks, const TensorFunction& f,
                   const std::vector<Tensor>& inputs) {
  std::string text;
  for (std::string_view layers : stacks)
    if (const std::string message = broken_by(layers, f, inputs); !message.empty())
      text += std::string(layers) + ": " + message + "\n";
  return text;
}

std::string verdicts(const std::vector<std::string_view>& stacks, const TensorFunction& f,
                     const std::vector<Tensor>& inputs) {
  std::string text;
  for (std::string_view layers : stacks)
    text += (text.empty() ? "" : ", ") + text_of(verdict_under(layers, f, inputs));
  return text;
}

std::string error_of_graph(const TensorFunction& f, const std::vector<Tensor>& traced,
                           const std::vector<Tensor>& inputs) {
  try {
    trace(f, traced).run(inputs);
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "";
}

}  // namespace sb::composition
