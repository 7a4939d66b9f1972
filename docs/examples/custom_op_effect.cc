// An operator that does more than its schema says.

#include <iostream>

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  int64_t ticks = 0;
  sb::CustomOp tick = sb::custom_op("mylib::tick", "(Tensor x) -> Tensor",
                                    [&](const Tensor& x) { return x + ++ticks; });
  tick.register_effect(sb::Effect::Ordered);
  sb::Graph graph = sb::trace(
      [&](const Tensors& in) {
        tick(in[0]);  // nobody uses its result
        return Tensors{in[0] * 2};
      },
      {sb::ones({2})});
  graph.eliminate_dead_code();
  std::cout << graph.to_string();
  graph.run({sb::ones({2})});
  std::cout << ticks << " ticks\n";
  // doc: end
}
