// An operator that takes a function.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/dispatch/objects/callable.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Callable, sb::DispatchKey, sb::DispatchKeySet, sb::IValue, sb::Stack;

int main() {
  // doc: begin
  sb::HigherOrderOperator apply_twice("apply_twice");
  const sb::RegistrationHandle everywhere =
      apply_twice.impl(DispatchKey::CompositeExplicitAutograd, [](DispatchKeySet, Stack* stack) {
        const auto f = Callable::from((*stack)[0]);
        *stack = (*f)((*f)({(*stack)[1]}));
      });
  const sb::RegistrationHandle autograd =
      apply_twice.impl(DispatchKey::Autograd, [&](DispatchKeySet keys, Stack* stack) {
        apply_twice.redispatch_boxed(
            keys & DispatchKeySet::below(DispatchKey::AutogradFunctionality), stack);
      });

  const sb::Tensor x = sb::ones({2});
  const IValue add_one = Callable::make(
      [](std::vector<IValue> in) -> std::vector<IValue> { return {in[0].to_tensor() + 1}; });
  std::cout << apply_twice({add_one, x})[0].to_tensor() << "\n";
  // doc: end

  // doc: begin
  sb::LoggingMode log;
  sb::ModeGuard guard(&log);
  apply_twice({add_one, x});
  std::cout << log.to_string();
  // doc: end
}
