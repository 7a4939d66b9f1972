#include "switchboard/tests/conformance/program.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/tests/conformance/call_check.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::conformance {

std::vector<Tensor> tensors_in(const std::vector<IValue>& results) {
  std::vector<Tensor> tensors;
  for (const IValue& value : results)
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) tensors.push_back(t);
    });
  return tensors;
}

namespace {

// How a higher-order step becomes a call.
struct HigherOrder {
  std::string_view hop;
  // Of the arguments, in order. One that a step does not have is an empty list.
  std::vector<const char*> fields;
  std::vector<Tensor> (*call)(std::vector<IValue> arguments, bool reverse);
};

template <HigherOrderOperator& (*op)()>
std::vector<Tensor> call_op(std::vector<IValue> arguments, bool) {
  return tensors_in(op()(std::move(arguments)));
}

std::vector<Tensor> scan(std::vector<IValue> a, bool reverse) {
  return control_flow::call_scan(a[0], tensors_in({a[1]}), tensors_in({a[2]}), tensors_in({a[3]}),
                                 reverse);
}

std::vector<Tensor> associative_scan(std::vector<IValue> a, bool reverse) {
  return control_flow::call_associative_scan(a[0], tensors_in({a[1]}), reverse);
}

const HigherOrder& find_higher_order(const std::string& hop) {
  static const auto* const all = new std::vector<HigherOrder>{
      {"cond", {"pred", "true", "false", "operands"}, call_op<cond_op>},
      {"while_loop", {"cond", "body", "carried", "additional"}, call_op<while_loop_op>},
      {"map", {"f", "xs", "args"}, call_op<map_impl_op>},
      {"scan", {"combine", "init", "xs", "additional"}, scan},
      {"associative_scan", {"combine", "xs"}, associative_scan},
  };
  const auto found = std::ranges::find(*all, hop, &HigherOrder::hop);
  if (found == all->end()) throw MalformedCase(str_cat("a step of unknown kind '", hop, "'"));
  return *found;
}

}  // namespace

std::vector<Tensor> ProgramRunner::run(const std::vector<Tensor>& inputs) {
  return run(program_, inputs, std::make_shared<KnownTensors>(), "");
}

std::vector<Tensor> ProgramRunner::run(const Json& program, const std::vector<Tensor>& inputs,
                                       const Scope& scope, const std::string& where) {
  for (size_t i = 0; i < inputs.size(); ++i) scope->add(str_cat("inputs.", i), inputs[i]);
  size_t number = 0;
  for (const Json& step : program.at("steps")) {
    const std::string path = str_cat("steps.", number++);
    const std::string& name =
        step.at(step.contains("hop") ? "hop" : "op").get_ref<const std::string&>();
    step_ = str_cat(where, where.empty() ? "" : ", ", path, ", ", name);
    const std::vector<IValue> results =
        step.contains("hop") ? higher_order_call(step, scope) : call(step, scope);
    size_t i = 0;
    for (Tensor& t : tensors_in(results)) scope->add(str_cat(path, ".", i++), std::move(t));
  }
  step_ = where;
  std::vector<Tensor> outputs;
  for (const Json& path : program.at("outputs"))
    outputs.push_back(scope->at(path.get_ref<const std::string&>()));
  return outputs;
}

// The arguments end with the call, as a program's would: lists, too, are gone when a derivative
// wants them, unless its node has kept them.
std::vector<IValue> ProgramRunner::call(const Json& step, const Scope& scope) {
  CaseCall call = prepare_call(step, place_, dispatcher_, *scope);
  return place_.call(call.op, std::exchange(call.arguments.positional, {}),
                     std::exchange(call.arguments.keyword, {}));
}

std::vector<IValue> ProgramRunner::higher_order_call(const Json& step, const Scope& scope) {
  const HigherOrder& kind = find_higher_order(step.at("hop").get<std::string>());
  std::vector<IValue> arguments;
  for (const char* field : kind.fields) {
    arguments.push_back(step.contains(field) ? argument(step[field], scope)
                                             : IValue(std::vector<Tensor>{}));
  }
  std::vector<Tensor> results;
  place_.run(
      [&] { results = kind.call(std::exchange(arguments, {}), step.value("reverse", false)); });
  return {results.begin(), results.end()};
}

IValue ProgramRunner::argument(const Json& field, const Scope& scope) {
  if (field.is_string()) return scope->at(field.get_ref<const std::string&>());
  if (field.is_array()) {
    std::vector<Tensor> tensors;
    for (const Json& path : field) tensors.push_back(scope->at(path.get_ref<const std::string&>()));
    return tensors;
  }
  return Callable::make([this, &field, scope, where = step_](std::vector<IValue> values) {
    const std::vector<Tensor> results =
        run(field, tensors_in(values), std::make_shared<KnownTensors>(scope), where);
    return std::vector<IValue>(results.begin(), results.end());
  });
}

}  // namespace sb::conformance
