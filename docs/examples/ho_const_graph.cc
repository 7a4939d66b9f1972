// A graph of constants.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/run_const_graph.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto prepare = std::make_shared<const sb::Graph>(
      sb::trace([](const Tensors& weight) { return Tensors{weight[0] / 4}; }, {sb::ones({2})}));
  const auto program = [&](const Tensors& in) {
    return Tensors{in[0] * sb::run_const_graph(prepare, {in[1]})[0]};
  };
  const Tensors inputs{sb::ones({2}), sb::full({2}, 8.0)};
  sb::Graph graph = sb::trace(program, inputs, {.input_names = {"x", "weight"}});
  std::cout << graph.to_string() << "\n" << graph.run(inputs)[0] << "\n";
  // doc: end
}
