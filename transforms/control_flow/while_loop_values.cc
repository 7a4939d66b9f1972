// Loops that carry numbers: each is a tensor without dimensions between the trips.

#include <string>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/transforms/control_flow/numbers.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb {

using control_flow::ValueKind;

std::vector<IValue> while_loop_values(
    std::function<IValue(const std::vector<IValue>&)> cond_fn,
    std::function<std::vector<IValue>(const std::vector<IValue>&)> body_fn,
    std::vector<IValue> carried_inputs, std::vector<Tensor> additional_inputs) {
  const std::string op = "higher_order::while_loop";
  SB_CHECK_VALUE(cond_fn, op, ": cond_fn: expected a function, got an empty one");
  SB_CHECK_VALUE(body_fn, op, ": body_fn: expected a function, got an empty one");
  const auto kind = [](const std::string& who, const IValue& value) {
    const ValueKind kind = control_flow::kind_of(who, value);
    SB_CHECK_TYPE(kind != ValueKind::None, who,
                  ": expected a tensor, an int, a float or a bool, got None");
    return kind;
  };
  std::vector<ValueKind> kinds;
  for (size_t i = 0; i < carried_inputs.size(); ++i)
    kinds.push_back(kind(str_cat(op, ": carried_inputs ", i), carried_inputs[i]));
  const auto condition = [=](const std::vector<Tensor>& tensors) {
    const IValue goes_on = cond_fn(control_flow::to_values(tensors, kinds));
    const std::string who = str_cat(op, ": cond_fn: result");
    const ValueKind got = kind(who, goes_on);
    SB_CHECK_TYPE(got == ValueKind::Bool || got == ValueKind::Tensor, who,
                  ": expected a bool or a bool tensor, got ", goes_on.tag_name());
    return control_flow::to_tensors({goes_on}, tensors)[0];
  };
  const auto body = [=](const std::vector<Tensor>& tensors) {
    const std::vector<IValue> next = body_fn(control_flow::to_values(tensors, kinds));
    SB_CHECK(next.size() == kinds.size(), op, ": body_fn: expected ", kinds.size(),
             " results, as many as are carried, got ", next.size());
    for (size_t i = 0; i < next.size(); ++i) {
      const std::string who = str_cat(op, ": body_fn: result ", i);
      const ValueKind got = kind(who, next[i]);
      SB_CHECK(got == kinds[i], who, ": expected ", control_flow::name_of(kinds[i]),
               ", as it took, got ", control_flow::name_of(got));
    }
    return control_flow::to_tensors(next, tensors);
  };
  return control_flow::to_values(
      while_loop(condition, body, control_flow::to_tensors(carried_inputs, additional_inputs),
                 std::move(additional_inputs)),
      kinds);
}

}  // namespace sb
