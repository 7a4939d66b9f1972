#include "switchboard/tests/conformance/program.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/tests/conformance/call_check.h"

namespace sb::conformance {
namespace {

// How a higher-order step becomes a call.
struct HigherOrder {
  std::string_view hop;
  std::string_view name;  // of the operator
  // Of the arguments, in order. One that a step does not have is an empty list.
  std::vector<const char*> fields;
};

const HigherOrder& find_higher_order(const std::string& hop) {
  static const auto* const all = new std::vector<HigherOrder>{
      {"cond", "cond", {"pred", "true", "false", "operands"}},
      {"while_loop", "while_loop", {"cond", "body", "carried", "additional"}},
      {"map", "map_impl", {"f", "xs", "args"}},
      {"scan", "scan", {"combine", "init", "xs", "additional"}},
      {"associative_scan", "associative_scan", {"combine", "xs", "additional"}},
  };
  const auto found = std::ranges::find(*all, hop, &HigherOrder::hop);
  if (found == all->end()) throw MalformedCase(str_cat("a step of unknown kind '", hop, "'"));
  return *found;
}

}  // namespace

std::vector<Tensor> tensors_in(const std::vector<IValue>& results) {
  std::vector<Tensor> tensors;
  for (const IValue& value : results)
    value.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) tensors.push_back(t);
    });
  return tensors;
}

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
  HigherOrderOperator* const op = find_higher_order_op(kind.name);
  if (!op)
    throw Unsupported("the operator is not registered", str_cat("higher_order::", kind.name));
  const bool reverse = step.value("reverse", false);
  std::vector<IValue> arguments;
  for (const char* field : kind.fields) {
    IValue value =
        step.contains(field) ? argument(step[field], scope) : IValue(std::vector<Tensor>{});
    if (reverse && std::string_view(field) == "xs") value = flipped(tensors_in({value}));
    arguments.push_back(std::move(value));
  }
  std::vector<IValue> results;
  place_.run([&] { results = (*op)(std::exchange(arguments, {})); });
  if (!reverse) return results;
  // Rows come in the order of the slices, after what was carried.
  const std::vector<Tensor> tensors = tensors_in(results);
  const auto rows = tensors.begin() +
                    static_cast<std::ptrdiff_t>(step.contains("init") ? step["init"].size() : 0);
  results.assign(tensors.begin(), rows);
  for (Tensor& t : flipped({rows, tensors.end()})) results.emplace_back(std::move(t));
  return results;
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

std::vector<Tensor> ProgramRunner::flipped(const std::vector<Tensor>& tensors) {
  const OperatorHandle flip = dispatcher_.find_op_or_throw("aten::flip");
  std::vector<Tensor> results;
  for (const Tensor& t : tensors)
    results.push_back(place_.call(flip, {t, std::vector<int64_t>{0}}, {}).at(0).to_tensor());
  return results;
}

}  // namespace sb::conformance
