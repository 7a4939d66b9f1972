// The calls that made fake tensors.

#include <iostream>

#include "switchboard/core/symbols/sym_node.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

int main() {
  // doc: begin
  sb::FakeTensorMode fake({.record_creation = true});
  const Tensor real = sb::ones({2, 3});
  const sb::SymReason reason("the inputs");
  const Tensor x = fake.from_tensor(real, sb::Device("cuda:0"));
  std::cout << creation_of(x)->call << ", for " << creation_of(x)->reason << "\n";
  const Tensor y = sb::relu(x) * 2;
  std::cout << creation_of(y)->call << "\n";
  // doc: end
}
