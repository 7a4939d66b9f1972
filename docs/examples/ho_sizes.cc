// Branches whose results have different sizes.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/transforms/control_flow/cond.h"

using sb::DType, sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  const auto once_or_thrice = [](const Tensors& in) {
    return sb::cond(
        in[0], [](const Tensor& x) { return sb::cat({x}); },
        [](const Tensor& x) {
          return sb::cat({x, x, x});
        },
        {in[1]});
  };
  sb::FakeTensorMode fake({.shape_env = sb::ShapeEnv::create()});
  const Tensor pred = fake.from_tensor(sb::full({}, true, DType::Bool));
  const Tensor x = fake.from_tensor(sb::ones({2, 2}), {.static_shapes = true});
  std::cout << once_or_thrice({pred, x})[0].describe() << "\n";

  const sb::Graph graph = sb::trace(once_or_thrice, {pred, x}, {.input_names = {"pred", "x"}});
  for (const bool p : {true, false})
    std::cout << graph.run({sb::full({}, p, DType::Bool), sb::ones({2, 2})})[0].describe() << "\n";
  // doc: end
}
