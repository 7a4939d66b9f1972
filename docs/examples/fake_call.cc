// The kernels that run for a call on fake tensors.

#include <iostream>

#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::Device, sb::Tensor;

int main() {
  // doc: begin
  sb::FakeTensorMode fake;
  const Tensor x = fake.from_tensor(sb::ones({2, 3}), Device("cuda:0"));
  const Tensor w = fake.from_tensor(sb::ones({5, 3}), Device("cuda:0"));
  std::cout << x.key_set() << "\n";

  sb::TraceCalls trace([](const std::string& line) { std::cout << line << "\n"; });
  sb::linear(x, w);
  // doc: end
}
