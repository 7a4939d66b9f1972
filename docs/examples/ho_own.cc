// A region operator of our own.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"
#include "switchboard/transforms/functionalization/functionalize.h"
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
    return on_chip(sb::tensor_callable("f", [](const Tensor& x) { return x += x; }), in, {7});
  };
  std::cout << sb::trace(sb::functionalize(program), {sb::ones({2})}).to_string() << "\n";

  sb::FakeTensorMode fake;
  std::cout << program({fake.from_tensor(sb::ones({2}), sb::Device("cuda:0"))})[0].describe()
            << "\n";

  const Tensor leaf = sb::ones({2});
  sb::set_requires_grad(leaf);
  const sb::Graph graph = sb::trace(program, {sb::ones({2})});
  std::cout << sb::grad({sb::sum(graph.run({leaf * 1})[0])}, {leaf})[0] << "\n";
  // doc: end
}
