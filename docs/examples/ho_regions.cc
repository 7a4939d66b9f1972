// Parts of a program that a graph keeps as one call.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/hints_wrapper.h"
#include "switchboard/transforms/higher_order/strict_mode.h"
#include "switchboard/transforms/higher_order/wrap.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    const Tensor w = in[1];
    const Tensors y = sb::strict_mode([&](const Tensor& x) { return x * w; }, {in[0]});
    const Tensors z = sb::hints_wrapper([](const Tensor& x) { return x + 1; }, y, {{"level", 3}});
    return sb::wrap([](const Tensor& x) { return -x; }, z);
  };
  const Tensors inputs{sb::ones({2}), sb::full({2}, 3.0)};
  const sb::Graph graph = sb::trace(program, inputs, {.input_names = {"x", "w"}});
  std::cout << graph.to_string() << "\n" << graph.run(inputs)[0] << "\n";
  // doc: end
}
