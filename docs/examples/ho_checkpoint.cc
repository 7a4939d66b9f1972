// A function whose values are computed again for its gradient.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/higher_order/derivatives/checkpoint.h"

using sb::Tensor;

int main() {
  // doc: begin
  int runs = 0;
  const auto block = [&](const Tensor& x) {
    ++runs;
    return x * x * x;
  };
  const Tensor x = sb::full({2}, 2.0);
  sb::set_requires_grad(x);
  const Tensor y = sb::wrap_activation_checkpoint(block, {x})[0];
  std::cout << y << " after " << runs << " run\n";
  const Tensor gradient = sb::grad({sb::sum(y)}, {x})[0];
  std::cout << gradient << " after " << runs << "\n";
  // doc: end
}
