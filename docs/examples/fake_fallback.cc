// An operator that has only its real kernel.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

SB_OP(areas, "vision::areas(Tensor boxes) -> Tensor");

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "vision");
  library.define(areas);
  library.impl(areas, sb::DispatchKey::CPU, [](const Tensor& boxes) {
    std::cout << "the kernel gets " << boxes << "\n";
    return sb::select(boxes, 1, 0) * sb::select(boxes, 1, 1);
  });

  const Tensor boxes = sb::ones({2, 2});
  sb::FakeTensorMode fake;
  std::cout << areas(fake.from_tensor(boxes, sb::Device("cuda:0"))).describe() << "\n";

  sb::FakeTensorMode strict({.allow_fallback_kernels = false});
  try {
    areas(strict.from_tensor(boxes));
  } catch (const sb::UnsupportedOperatorError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
