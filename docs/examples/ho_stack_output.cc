// All steps of a loop.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/while_loop.h"

using sb::Tensor;

int main() {
  // doc: begin
  const std::vector<Tensor> steps =
      sb::while_loop_stack_output([](const Tensor& x) { return sb::sum(x) < 8; },
                                  [](const Tensor& x) { return x * 2; }, {sb::ones({2})});
  std::cout << steps[0] << "\n";
  // doc: end
}
