// A mode that takes calls of operators that know nothing of it.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/cond.h"

using sb::Tensor;

// doc: begin
class Halving : public sb::DispatchMode {
 public:
  void call(const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) override {
    op.call_boxed(stack);
  }
  void call_higher_order(const sb::HigherOrderOperator& op, sb::DispatchKeySet,
                         sb::Stack* stack) override {
    std::cout << name() << " halves " << op.name() << "\n";
    op.call_boxed(stack);
    for (sb::IValue& result : *stack) result = result.to_tensor() / 2;
  }
  std::string name() const override { return "Halving"; }
};
struct HalvingAll : Halving {
  bool supports_higher_order_operators() const override { return true; }
  std::string name() const override { return "HalvingAll"; }
};
// doc: end

int main() {
  // doc: begin
  const auto run_under = [](sb::DispatchMode& mode) {
    const sb::ModeGuard guard(&mode);
    return sb::cond(
        sb::ones({}), [](const Tensor& x) { return x + 1; }, [](const Tensor& x) { return x; },
        {sb::ones({2})})[0];
  };
  Halving halving;
  try {
    run_under(halving);
  } catch (const sb::NotImplementedError& error) {
    const std::string_view text = error.what();
    std::cout << text.substr(0, text.find('\n')) << "\n";  // the rest says what rules there are
  }
  const sb::RegistrationHandle rule = sb::redirect_to_mode<Halving>(sb::cond_op());
  std::cout << run_under(halving) << "\n";
  HalvingAll all;
  std::cout << run_under(all) << "\n";
  // doc: end
}
