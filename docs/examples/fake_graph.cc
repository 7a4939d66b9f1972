// A graph that was traced with symbols for sizes, and runs with those of its inputs.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/cond.h"

using sb::Tensor;
using Tensors = std::vector<Tensor>;

// doc: begin
Tensors program(const Tensors& in) {
  const Tensor& x = in[0];
  const sb::SymInt rows = x.sym_size(0);
  const Tensor mean = sb::sum(x) / sb::Scalar(rows);
  return sb::cond(
      rows > 4, [](const Tensor& y) { return y * 10; }, [](const Tensor& y) { return -y; }, {mean});
}
// doc: end

int main() {
  // doc: begin
  sb::FakeTensorMode fake({.shape_env = sb::ShapeEnv::create()});
  const Tensor example = fake.from_tensor(sb::ones({3, 2}), {.source = "x"});
  const sb::Graph graph = sb::trace(program, {example}, {.input_names = {"x"}});
  std::cout << graph.to_string() << "\n";
  for (const int64_t rows : {2, 4, 5}) {
    const Tensor y = graph.run({sb::ones({rows, 2})})[0];
    std::cout << rows << " rows: " << to_string(y) << "\n";
  }
  try {
    graph.run({sb::ones({1, 2})});
  } catch (const sb::ValueError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
