// What an operator does under one type of mode.

#include <iostream>

#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/dispatch/objects/register_torch_dispatch.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

// doc: begin
struct Cost : sb::DispatchMode {
  void call(const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) override {
    op.call_boxed(stack);
    elements += stack->back().to_tensor().numel();
  }
  std::string name() const override { return "Cost"; }
  int64_t elements = 0;
};
// doc: end

int main() {
  // doc: begin
  sb::Library mylib(sb::Library::Kind::Impl, "mylib");
  sb::register_torch_dispatch<Cost>(
      "aten::neg",
      [](Cost&, sb::DispatchKeySet, sb::Stack* stack) {
        sb::default_dispatcher().find_op_or_throw("aten::neg").call_boxed(stack);  // it is free
      },
      mylib);
  Cost cost;
  {
    const sb::ModeGuard guard(&cost);
    -(sb::ones({2}) + 1);
  }
  std::cout << cost.elements << " elements\n";
  // doc: end
}
