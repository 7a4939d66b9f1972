// The gradient of a loss for each example.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/derivatives/func_grad.h"
#include "switchboard/transforms/vmap/vmap.h"

using sb::Tensor;

int main() {
  // doc: begin
  const Tensor x = sb::reshape(sb::arange(6, sb::DType::Float32), {3, 2}), w = sb::ones({2});
  const auto loss = [](const Tensor& weights, const Tensor& row) {
    const Tensor score = sb::dot(row, weights);
    return score * score;
  };
  const auto gradient = [&](const Tensor& weights, const Tensor& row) {
    return sb::func_grad(loss, {weights, row});
  };
  std::cout << sb::vmap(gradient, {w, x}, {.in_dims = {std::nullopt, 0}})[0] << "\n";
  // doc: end
}
