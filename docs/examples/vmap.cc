// A function of one example, run on all of them at once.

#include "switchboard/transforms/vmap/vmap.h"

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

int main() {
  // doc: begin
  const Tensor x = sb::reshape(sb::arange(6, sb::DType::Float32), {3, 2}), w = sb::full({2}, 2.0);
  const auto score = [](const Tensor& row, const Tensor& weights) {
    return sb::tanh(sb::dot(row, weights)) + sb::sum(row);
  };
  sb::LoggingMode log([](const std::string& line) { std::cout << line << "\n"; });
  const sb::ModeGuard guard(&log);
  const Tensor y = sb::vmap(score, {x, w}, {.in_dims = {0, std::nullopt}})[0];
  std::cout << y << "\n";
  // doc: end
}
