// Branches and loops that a graph keeps.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/while_loop.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto positive = [](const Tensor& x) { return sb::sum(x) > 0; };
  const auto halve_or_negate = [&](const Tensors& in) {
    return sb::cond(
        positive(in[0]), [](const Tensor& x) { return x / 2; }, [](const Tensor& x) { return -x; },
        {in[0]});
  };
  const Tensor x = sb::ones({2});
  const sb::Graph graph = sb::trace(halve_or_negate, {x}, {.input_names = {"x"}});
  std::cout << graph.to_string() << "\n" << graph.run({x})[0] << " " << graph.run({-x})[0] << "\n";

  const Tensors end =
      sb::while_loop(positive, [](const Tensor& y) { return Tensors{y - 0.75}; }, {x});
  std::cout << end[0] << "\n";
  // doc: end
}
