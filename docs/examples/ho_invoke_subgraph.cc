// A block that a program calls twice and its graph holds once.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/invoke_subgraph.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto block = [](const Tensor& x) { return x * x + 1; };
  const auto program = [&](const Tensors& in) {
    return sb::invoke_subgraph(block, "block", sb::invoke_subgraph(block, "block", in));
  };
  std::cout << sb::trace(program, {sb::ones({2})}).to_string();
  // doc: end
}
