// A program on the device of new_device.cc.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

// doc: begin
int main() {
  const sb::Device mine("mine"), cpu("cpu");
  const sb::Tensor x = sb::ones({2, 2}, {}, {}, mine);  // made of empty and fill_
  const sb::Tensor y = sb::relu(sb::mm(x, x) - 1.5);    // mm and sub ran on the CPU, relu here
  std::cout << y.describe() << "\n" << sb::to(y, cpu) << "\n";
}
// doc: end
