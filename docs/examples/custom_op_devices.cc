// A function, and a kernel for one device.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/factories/factories.h"

using sb::Device;
using sb::Tensor;

int main() {
  // doc: begin
  const auto kernel = [](const char* name) {
    return [name](int64_t n, Device) {
      std::cout << name << "\n";
      return sb::ones({n});
    };
  };
  sb::CustomOp make =
      sb::custom_op("mylib::make", "(int n, *, Device device) -> Tensor", kernel("the function"));
  make.register_kernel("cpu", kernel("the kernel for the CPU"));
  const auto on = [&](const char* device) { make.op().call({2}, {{"device", Device(device)}}); };
  on("cpu");
  on("cuda:0");
  {
    const sb::RegistrationHandle off = make.set_kernel_enabled("cpu", false);
    on("cpu");
  }
  on("cpu");
  // doc: end
  // doc: begin
  sb::CustomOp only = sb::custom_op("mylib::only", "(int n, *, Device device) -> Tensor",
                                    kernel("the kernel for the CPU"), {.device_types = "cpu"});
  try {
    only.op().call({2}, {{"device", Device("cuda:0")}});
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
