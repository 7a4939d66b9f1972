// One of two functions, as the data says.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/functionalization/functionalize.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    const Tensor w = in[1];
    return sb::cond(
        sb::sum(in[0]) > 0, [&](const Tensor& x) { return x * w; },
        [](const Tensor& x) { return x += 10; }, {in[0]});
  };
  const Tensor w = sb::full({2}, 3.0), above = sb::ones({2}), below = -above;
  const sb::Graph graph = sb::trace(program, {above, w}, {.input_names = {"x", "w"}});
  std::cout << graph.to_string() << "\n";

  sb::set_requires_grad(w);
  std::cout << sb::grad({sb::sum(graph.run({above, w})[0])}, {w})[0] << "\n";
  graph.run({below, w});
  std::cout << below << "\n";

  const Tensor x = -above;
  sb::functionalize(program)({x, w});
  std::cout << x << "\n";
  // doc: end
  // doc: begin
  const auto differ = [](const Tensors& in) {
    return sb::cond(
        sb::sum(in[0]) > 0, [](const Tensor& x) { return x; },
        [](const Tensor& x) { return sb::to(x, sb::DType::Float64); }, in);
  };
  std::cout << differ({above})[0] << "\n";  // on kernels only what runs matters
  try {
    sb::trace(differ, {above});
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
