// A region without gradients, in a program and in its graph.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/higher_order/wrap.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    const Tensors scale =
        sb::wrap_with_set_grad_enabled(false, [](const Tensor& x) { return x * 10; }, {in[0]});
    return Tensors{in[0] * scale[0]};
  };
  const Tensor x = sb::ones({2});
  sb::set_requires_grad(x);
  std::cout << sb::grad({sb::sum(program({x})[0])}, {x})[0] << "\n";
  const sb::Graph graph = sb::trace(program, {sb::ones({2})});
  std::cout << sb::grad({sb::sum(graph.run({x})[0])}, {x})[0] << "\n";
  // doc: end
}
