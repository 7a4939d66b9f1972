// One call for all tensors of some lists.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/foreach_map.h"

using sb::Tensor;

int main() {
  // doc: begin
  const std::vector<Tensor> weights{sb::ones({2}), sb::full({1}, 3.0)}, grads = weights;
  const auto step = [](const Tensor& w, const Tensor& g) { return w - g * 0.5; };
  for (const Tensor& w : sb::foreach_map(step, {weights, grads})) std::cout << w << "\n";
  // doc: end
}
