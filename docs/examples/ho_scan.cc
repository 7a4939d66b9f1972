// A state that goes from slice to slice.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/scan.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto step = [](const Tensor& sum, const Tensor& row) {
    const Tensor next = sum * 0.5 + row;
    return Tensors{next, -next};  // what is carried, and what is stacked
  };
  const auto program = [&](const Tensors& in) { return sb::scan(step, {in[0]}, {in[1]}); };
  const Tensors inputs{sb::zeros({2}), sb::ones({3, 2})};
  std::cout << sb::trace(program, inputs, {.input_names = {"init", "rows"}}).to_string() << "\n";
  const Tensors results = program(inputs);
  std::cout << results[0] << "\n" << results[1] << "\n";
  // doc: end
  // doc: begin
  const auto add_up = [](const Tensor& sum, const Tensor& slice) {
    return Tensors{sum + slice, sum + slice};
  };
  const Tensor x = sb::reshape(sb::arange(6, sb::DType::Float32), {2, 3});
  std::cout << sb::scan(add_up, {sb::zeros({2})}, {x}, {}, /*reverse=*/true, /*dim=*/1)[1] << "\n";

  const auto double_it = [](const Tensor& y) { return Tensors{y * 2, y}; };
  std::cout << sb::scan_length(double_it, {sb::ones({})}, 4)[1] << "\n";
  // doc: end
}
