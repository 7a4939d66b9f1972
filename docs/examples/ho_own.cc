// A region operator of our own.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/higher_order/base_hop.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  static const auto& on_chip = *new sb::higher_order::BaseHop({.name = "on_chip",
                                                               .parameters = {"f", "args", "chip"},
                                                               .function = 0,
                                                               .operands = 1,
                                                               .graph_name = "chip_graph"});
  const auto program = [](const Tensors& in) {
    return on_chip(sb::tensor_callable("f", [](const Tensor& x) { return x + x; }), in, {7});
  };
  std::cout << sb::trace(program, {sb::ones({2})}).to_string();
  // doc: end
}
