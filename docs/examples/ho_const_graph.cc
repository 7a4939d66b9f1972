// A graph of constants.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/run_const_graph.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto folded = std::make_shared<const sb::Graph>(
      sb::trace([](const Tensors& in) { return Tensors{in[0] * 2}; }, {sb::ones({2})}));
  const auto program = [&](const Tensors& in) {
    return Tensors{in[0] + sb::run_const_graph(folded, {in[1]})[0]};
  };
  std::cout << sb::trace(program, {sb::ones({2}), sb::ones({2})}).to_string();
  // doc: end
}
