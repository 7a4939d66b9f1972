// One of several functions, as an index says.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/control_flow/switch.h"

using sb::DType, sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto program = [](const Tensors& in) {
    return sb::switch_on(
        in[0],
        sb::branches([](const Tensor& x) { return x + 1; }, [](const Tensor& x) { return -x; },
                     [](const Tensor& x) { return x * x; }),
        {in[1]});
  };
  const auto index = [](int64_t i) { return sb::full({}, i, DType::Int64); };
  const Tensor x = sb::full({2}, 3.0);
  const sb::Graph graph = sb::trace(program, {index(0), x}, {.input_names = {"index", "x"}});
  std::cout << graph.to_string() << "\n";
  for (const int64_t i : {-1, 1, 7}) std::cout << graph.run({index(i), x})[0] << "\n";
  // doc: end
}
