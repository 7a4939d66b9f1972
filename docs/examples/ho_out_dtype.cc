// A product of bytes that does not overflow.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/out_dtype.h"

using sb::DType, sb::Tensor;

int main() {
  // doc: begin
  const Tensor x = sb::full({2, 2}, 100, DType::Int8);
  std::cout << sb::out_dtype("aten::mm", DType::Int32, {x, x}) << "\n";
  // doc: end
}
