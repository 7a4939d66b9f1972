// A higher-order operator, rule by rule.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/register_fake.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

using sb::Tensor;

// doc: begin
using Tensors = std::vector<Tensor>;
namespace control_flow = sb::control_flow;

// f(f(x))
const sb::HigherOrderOperator& twice_op() {
  static sb::HigherOrderOperator& op = *new sb::HigherOrderOperator("twice", {"f", "x"});
  static const bool once = [] {
    const auto compute = [](const std::vector<sb::IValue>& arguments) -> std::vector<sb::IValue> {
      const control_flow::FunctionArgument f("higher_order::twice", "f", arguments.at(0));
      return {f(f({arguments.at(1).to_tensor()}))[0]};
    };
    op.impl(sb::DispatchKey::CompositeExplicitAutograd, [=](sb::DispatchKeySet, sb::Stack* stack) {
        *stack = compute(*stack);
      }).release();
    op.impl(sb::DispatchKey::Autograd, control_flow::autograd_rule(op)).release();
    sb::register_fake(op, compute).release();
    return true;
  }();
  (void)once;
  return op;
}
Tensor twice(Tensor (*f)(const Tensor&), const Tensor& x) {
  return twice_op()({sb::tensor_callable("f", f), x})[0].to_tensor();
}
// doc: end

// doc: begin
// The gradient where a mode takes the call: f(f(x)) again, derived.
void derive_twice(const control_flow::DerivedCallSite& call, sb::Stack* stack) {
  const sb::IValue f = stack->at(0);
  control_flow::Recorded recorded;
  recorded.inputs = {stack->at(1).to_tensor()};
  recorded.results = call.run(call.op, *stack);
  recorded.num_returned = 1;
  recorded.derived = {true};
  recorded.backward = [f](const Tensors& inputs, const Tensors&, const Tensors&,
                          const sb::TensorVector& grads) {
    const sb::GradModeGuard with_gradients(true);
    const Tensor x = sb::detach(inputs[0]);
    sb::set_requires_grad(x);
    const control_flow::FunctionArgument function("higher_order::twice", "f", f);
    return sb::grad(function(function({x})), {x}, {grads[0]});
  };
  *stack = {control_flow::record(call, std::move(recorded))[0]};
}
// doc: end

int main() {
  // doc: begin
  const auto square = [](const Tensor& x) { return x * x; };
  const auto derive = [&](const Tensor& x) {
    sb::set_requires_grad(x);
    return sb::grad({sb::sum(twice(square, x))}, {x})[0];
  };
  std::cout << derive(sb::full({2}, 3.0)) << "\n";

  sb::FakeTensorMode fake;
  const sb::FakeTensorModeGuard active(fake);
  const Tensor x = sb::ones({2}, sb::Device("cuda:0"));
  std::cout << twice(square, x).describe() << "\n";
  try {
    derive(x);
  } catch (const sb::NotImplementedError& error) {
    std::cout << error.what() << "\n";
  }
  control_flow::register_derivative(twice_op(), derive_twice);
  std::cout << derive(x).describe() << "\n";
  // doc: end
}
