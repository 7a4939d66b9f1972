// A program becomes a graph; a program that mutates becomes one that does not.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functionalize.h"

// doc: begin
using Tensors = std::vector<sb::Tensor>;

Tensors zero_first_row(const Tensors& in) {
  const sb::Tensor y = in[0] * 2;
  sb::zero_(sb::select(y, 0, 0));  // a write, through a view
  return {y};
}
// doc: end

int main() {
  // doc: begin
  const Tensors inputs{sb::ones({2, 2})};
  const sb::Graph as_written = sb::trace(zero_first_row, inputs, {.input_names = {"x"}});
  const sb::Graph functional =
      sb::trace(sb::functionalize(zero_first_row), inputs, {.input_names = {"x"}});
  std::cout << as_written.to_string() << "\n" << functional.to_string() << "\n";
  std::cout << functional.run({sb::full({2, 2}, 4.0)})[0] << "\n";
  // doc: end
}
