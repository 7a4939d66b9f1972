// Tensors of a device that this machine does not have.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/views/views.h"

using sb::Device, sb::Tensor;

int main() {
  // doc: begin
  sb::FakeTensorMode fake;
  const Tensor x = fake.from_tensor(sb::ones({4, 3}), Device("cuda:0"));
  const Tensor w = fake.from_tensor(sb::ones({3, 5}), Device("cuda:0"));
  const Tensor y = sb::t(sb::relu(sb::mm(x, w)));
  std::cout << y.describe() << ", strides " << y.stride(0) << " and " << y.stride(1) << "\n";
  try {
    y.data_ptr();
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end

  // doc: begin
  {
    sb::FakeTensorModeGuard active(fake);
    const Tensor huge = sb::ones({1 << 20, 1 << 20}, Device("cuda:1"));
    std::cout << (huge + huge).describe() << "\n";
  }
  std::cout << "now " << fake.memory().current_bytes() << " bytes, at most "
            << fake.memory().peak_bytes() << "\n";
  // doc: end
}
