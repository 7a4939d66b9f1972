// Numbers that a loop carries.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/while_loop.h"

int main() {
  // doc: begin
  using Values = std::vector<sb::IValue>;
  const Values results =
      sb::while_loop_values([](const Values& in) { return sb::IValue(in[0].to_sym_int() < 3); },
                            [](const Values& in) {
                              return Values{in[0].to_sym_int() + 1, in[1].to_tensor() * 2};
                            },
                            {0, sb::ones({2})});
  std::cout << results[0].to_int() << " trips: " << results[1].to_tensor() << "\n";
  // doc: end
}
