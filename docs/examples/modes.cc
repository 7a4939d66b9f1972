// Modes: one of our own, and two that ship.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::Tensor;

// doc: begin
Tensor layer(const Tensor& x) { return sb::relu(sb::mm(x, x) - 3); }

class LeakyMode : public sb::DispatchMode {
 public:
  void call(const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) override {
    op.call_boxed(stack);  // the mode is off while it runs: this goes to the modes below
    if (op.name() == sb::relu.handle().name()) stack->back() = stack->back().to_tensor() - 0.5;
  }
  std::string name() const override { return "LeakyMode"; }
};
// doc: end

int main() {
  // doc: begin
  const Tensor x = sb::ones({2, 2});
  LeakyMode leaky;
  sb::LoggingMode log;
  sb::CountingMode count;
  {
    sb::ModeGuard counting(&count), logging(&log), leaking(&leaky);
    std::cout << layer(x) << "\n";
  }
  std::cout << log.to_string() << count.to_string();
  // doc: end
}
