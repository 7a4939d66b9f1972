// A function of each slice of a tensor.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/control_flow/map.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    return sb::map([](const Tensor& row, const Tensor& w) { return sb::sum(row * w); }, {in[0]},
                   {in[1]});
  };
  const Tensors inputs{sb::ones({3, 2}), sb::full({2}, 4.0)};
  std::cout << sb::trace(program, inputs, {.input_names = {"rows", "w"}}).to_string() << "\n"
            << program(inputs)[0] << "\n";
  // doc: end
}
