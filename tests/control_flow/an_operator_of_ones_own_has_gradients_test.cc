// A higher-order operator that is not of control flow: the rule at Autograd, and a derivative for
// modes that take its calls.

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/control_flow/derivatives/call_node.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;
using control_flow::FunctionArgument;

// f(f(x)).
HigherOrderOperator& make_twice(const char* name) {
  auto* const op = new HigherOrderOperator(name, {"f", "x"});
  op->impl(DispatchKey::CompositeExplicitAutograd, [op](DispatchKeySet, Stack* stack) {
      const FunctionArgument f(op->name(), "f", stack->at(0));
      const Tensors results = f(f({stack->at(1).to_tensor()}));
      *stack = {results[0]};
    }).release();
  op->impl(DispatchKey::Autograd, control_flow::autograd_rule(*op)).release();
  return *op;
}

// Takes calls of higher-order operators as they are.
struct Takes : DispatchMode {
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    op.call_boxed(stack);
  }
  bool supports_higher_order_operators() const override { return true; }
  void call_higher_order(const HigherOrderOperator& op, DispatchKeySet, Stack* stack) override {
    ++calls;
    op.call_boxed(stack);
  }
  std::string name() const override { return "Takes"; }
  int calls = 0;
};

Tensor square(const Tensor& x) { return x * x; }
Tensor run(const HigherOrderOperator& op, const Tensor& x) {
  return op({tensor_callable("f", square), x})[0].to_tensor();
}
Tensor leaf() {
  const Tensor x = tensor_of({1}, {3});
  set_requires_grad(x);
  return x;
}

TEST_CASE("with the rule at Autograd its gradients are those of what it calls") {
  const HigherOrderOperator& twice = make_twice("gradient_test_plain");
  const Tensor x = leaf(), y = run(twice, x);
  CHECK(text_of(y) == "float32[1] on cpu {81}");
  CHECK(text_of(grad({sum(y)}, {x})[0]) == "float32[1] on cpu {108}");
}

TEST_CASE("under a mode that takes the call it is refused, until it has a derivative") {
  const HigherOrderOperator& twice = make_twice("gradient_test_derived");
  Takes mode;
  const Tensor x = leaf();
  const auto run_under_mode = [&] {
    const ModeGuard guard(&mode);
    return run(twice, x);
  };
  CHECK_THAT(message(run_under_mode),
             Contains("NotImplementedError: higher_order::gradient_test_derived: under Takes: a "
                      "tensor requires a gradient, and the operator has none there"));
  CHECK(control_flow::register_derivative(
      twice, [](const control_flow::DerivedCallSite& call, Stack* stack) {
        const IValue f = stack->at(0);
        control_flow::Recorded recorded;
        recorded.inputs = {stack->at(1).to_tensor()};
        recorded.results = call.run(call.op, *stack);
        recorded.num_returned = 1;
        recorded.derived = {true};
        recorded.backward = [f](const Tensors& inputs, const Tensors&, const Tensors&,
                                const TensorVector& grads) {
          const GradModeGuard with_gradients(true);
          const Tensor x = detach(inputs[0]);
          set_requires_grad(x);
          const FunctionArgument function("twice", "f", f);
          return grad(function(function({x})), {x}, {grads[0]});
        };
        *stack = {control_flow::record(call, std::move(recorded))[0]};
      }));
  const Tensor y = run_under_mode();
  CHECK(mode.calls == 1);
  CHECK(text_of(grad({sum(y)}, {x})[0]) == "float32[1] on cpu {108}");
}

}  // namespace
}  // namespace sb::test
