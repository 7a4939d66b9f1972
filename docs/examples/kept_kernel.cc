// A kernel that calls the one that it was put over.

#include "switchboard/dispatch/objects/kept_kernel.h"

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

int main() {
  // doc: begin
  const sb::KeptKernel below = sb::get_kernel("aten::neg", DispatchKey::CPU);
  sb::Library mine(sb::Library::Kind::Impl, "aten");
  mine.impl("neg", DispatchKey::CPU, [below](sb::DispatchKeySet keys, const Tensor& x) {
    std::cout << "negates " << x.numel() << " elements\n";
    return below(keys, x)[0].to_tensor();
  });
  std::cout << -sb::ones({2}) << "\n";
  // doc: end
}
