// An operator under autocast.

#include <iostream>

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::DType, sb::Tensor;

int main() {
  // doc: begin
  sb::CustomOp twice =
      sb::custom_op("mylib::twice", "(Tensor x) -> Tensor", [](const Tensor& x) { return x * 2; });
  twice.register_autocast("cpu", DType::BFloat16);
  std::cout << twice(sb::ones({2})).describe() << "\n";
  const sb::AutocastGuard autocast("cpu");
  std::cout << twice(sb::ones({2})).describe() << "\n";
  // doc: end
}
