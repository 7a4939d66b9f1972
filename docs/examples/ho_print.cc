// Printing that a graph does, too.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/print.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    sb::print("got {} of {total}", {in[0]}, {{"total", 2}});
    return Tensors{in[0] * 2};
  };
  const sb::Graph graph = sb::trace(program, {sb::ones({2})});
  std::cout << graph.to_string();
  graph.run({sb::zeros({2})});
  // doc: end
}
