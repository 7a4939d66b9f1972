// Running results of a function that combines two slices.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/transforms/control_flow/associative_scan.h"

using sb::Tensor;

int main() {
  // doc: begin
  const auto times = [](const Tensor& a, const Tensor& b) { return a * b; };
  const Tensor x = sb::arange(5, sb::DType::Float32) + 1;
  std::cout << sb::associative_scan(times, {x})[0] << "\n"
            << sb::associative_scan(times, {x}, /*reverse=*/true)[0] << "\n";
  // doc: end
}
