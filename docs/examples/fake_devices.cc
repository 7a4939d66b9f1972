// The device of a result, and arguments on two devices.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

using sb::Device, sb::Tensor;

int main() {
  // doc: begin
  sb::FakeTensorMode fake;
  const Tensor gpu = fake.from_tensor(sb::ones({2}), Device("cuda:0"));
  const Tensor cpu = fake.from_tensor(sb::ones({2}));
  const Tensor scalar = fake.from_tensor(sb::ones({}));

  std::cout << (scalar * gpu).device() << ", " << (gpu * scalar).device() << ", "
            << (scalar * scalar).device() << "\n";
  try {
    gpu + cpu;
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  std::cout << (gpu + sb::to(cpu, Device("cuda"))).device() << "\n";
  // doc: end
}
