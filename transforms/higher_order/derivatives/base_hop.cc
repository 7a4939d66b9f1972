// Gradients under modes that record or replace calls: of operators that call one function, the
// operator again, called with the gradient of the function; of those that call others, a region
// with the gradient of what these compute.

#include "switchboard/transforms/higher_order/base_hop.h"

#include <optional>
#include <utility>

#include "switchboard/transforms/control_flow/derivatives/branches.h"
#include "switchboard/transforms/higher_order/composed_hop.h"
#include "switchboard/transforms/higher_order/wrap.h"

namespace sb::higher_order {
namespace {

using control_flow::Tensors;

void derive_call(const BaseHop& hop, const control_flow::DerivedCallSite& site, Stack* stack) {
  const BaseHopCall call(hop, *stack);
  Stack arguments = *stack;
  if (hop.options().of_gradient) hop.options().of_gradient(&arguments);
  Tensors results = site.run(site.op, *stack);
  *stack = control_flow::values_of(control_flow::derive_branches(
      site, {call.function}, call.operands, {}, std::move(results),
      [&hop, arguments](const Tensors&, std::vector<IValue> functions, Tensors operands) {
        Stack again = arguments;
        again[hop.options().function] = std::move(functions[0]);
        again[hop.options().operands] = std::move(operands);
        return control_flow::tensors_of(hop.op().name(), "results", hop.op()(std::move(again)));
      }));
}

// The value with the next of the tensors in the place of each.
IValue with_tensors(const IValue& value, const std::vector<IValue>& tensors, size_t* next) {
  if (value.is_Tensor()) return tensors.at((*next)++);
  if (value.is_TensorList()) {
    Tensors items;
    for (size_t i = 0; i < value.to_tensor_list().size(); ++i)
      items.push_back(tensors.at((*next)++).to_tensor());
    return items;
  }
  if (value.is_OptionalTensorList()) {
    std::vector<std::optional<Tensor>> items;
    for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
      items.push_back(t ? std::optional(tensors.at((*next)++).to_tensor()) : std::nullopt);
    return items;
  }
  if (!value.is_List()) return value;
  std::vector<IValue> items;
  for (const IValue& item : value.to_list()) items.push_back(with_tensors(item, tensors, next));
  return items;
}

void derive_composed(const ComposedHop& hop, const control_flow::DerivedCallSite& site,
                     Stack* stack) {
  const Stack arguments = *stack;
  Tensors operands;
  for (const IValue& value : arguments)
    value.for_each_tensor([&](const Tensor& t) { operands.push_back(t); });
  Tensors results = site.run(site.op, *stack);
  if (hop.options().is_effect) return stack->clear();
  // The arguments with other tensors.
  const auto compose = [&hop, arguments](std::vector<IValue> tensors) {
    Stack with = arguments;
    size_t next = 0;
    for (IValue& value : with) value = with_tensors(value, tensors, &next);
    return hop.options().compose(with);
  };
  const control_flow::FunctionArgument function(hop.op().name(), "op", Callable::make(compose));
  *stack = control_flow::values_of(control_flow::derive_branches(
      site, {function}, operands, {}, std::move(results),
      [](const Tensors&, std::vector<IValue> functions, Tensors operands) {
        return wrap_hop()(std::move(functions[0]), std::move(operands));
      }));
}

[[maybe_unused]] const bool registered = [] {
  for_each_base_hop([](const BaseHop& hop) {
    control_flow::register_derivative(
        hop.op(), [&hop](const control_flow::DerivedCallSite& site, Stack* stack) {
          derive_call(hop, site, stack);
        });
  });
  for_each_composed_hop([](const ComposedHop& hop) {
    control_flow::register_derivative(
        hop.op(), [&hop](const control_flow::DerivedCallSite& site, Stack* stack) {
          derive_composed(hop, site, stack);
        });
  });
  return true;
}();

}  // namespace
}  // namespace sb::higher_order
