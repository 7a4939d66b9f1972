// Gradients of operators that call one function, under modes that record or replace calls: the
// operator again, called with the gradient of the function.

#include "switchboard/transforms/higher_order/base_hop.h"

#include <utility>

#include "switchboard/transforms/control_flow/derivatives/branches.h"

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

[[maybe_unused]] const bool registered = [] {
  for_each_base_hop([](const BaseHop& hop) {
    control_flow::register_derivative(
        hop.op(), [&hop](const control_flow::DerivedCallSite& site, Stack* stack) {
          derive_call(hop, site, stack);
        });
  });
  return true;
}();

}  // namespace
}  // namespace sb::higher_order
