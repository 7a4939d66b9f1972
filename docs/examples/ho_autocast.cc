// A part of a program in another dtype.

#include <iostream>
#include <optional>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/transforms/higher_order/wrap_with_autocast.h"

using sb::DType, sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    const auto product = [](const Tensor& x) { return sb::mm(x, x); };
    const Tensor low = sb::wrap_with_autocast("cpu", DType::BFloat16, true, product, in)[0];
    return Tensors{low + sb::mm(in[0], in[0])};
  };
  const sb::Graph graph = sb::trace(program, {sb::ones({2, 2})}, {.input_names = {"x"}});
  std::cout << graph.to_string() << "\n" << graph.run({sb::ones({2, 2})})[0].describe() << "\n";
  // doc: end
}
