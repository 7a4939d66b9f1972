// A function again and again, as long as the data says so.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functionalize.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    return sb::while_loop([](const Tensor& x, const Tensor&) { return sb::sum(x) < 20; },
                          [](const Tensor& x, const Tensor& w) { return x * w; }, {in[0]}, {in[1]});
  };
  const Tensor x = sb::ones({2}), w = sb::full({2}, 3.0);
  const sb::Graph graph = sb::trace(program, {x, w}, {.input_names = {"x", "w"}});
  std::cout << graph.to_string() << "\n";

  sb::set_requires_grad(w);
  const Tensor end = graph.run({x, w})[0];
  std::cout << end << " with the gradient " << sb::grad({sb::sum(end)}, {w})[0] << "\n";
  // doc: end
  // doc: begin
  const auto counts = [](const Tensors& in) {
    return sb::while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                          [](const Tensor& i, const Tensor& trips) {
                            trips += 1;  // a write to what the loop only reads
                            return i + 1;
                          },
                          {in[0]}, {in[1]});
  };
  const Tensor trips = sb::zeros({});
  sb::functionalize(counts)({sb::zeros({}), trips});
  std::cout << trips << "\n";
  try {
    sb::trace(sb::functionalize(counts), {sb::zeros({}), trips});
  } catch (const sb::NotImplementedError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
