// A key that is transparent for one operator.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(touch, "demo::touch(Tensor x) -> ()");

int main() {
  const Tensor x = sb::ones({2}), there = sb::ones({2}, sb::Device("meta"));

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(touch);
  library.impl(touch, DispatchKey::AutogradMeta,
               [](const Tensor&) { std::cout << "kernel at AutogradMeta\n"; });
  library.impl(touch, DispatchKey::AutogradCPU, sb::fallthrough);
  library.impl(touch, DispatchKey::CPU, [](const Tensor&) { std::cout << "kernel at CPU\n"; });

  touch(there);
  touch(x);
  try {
    touch.redispatch(DispatchKey::AutogradCPU, x);
  } catch (const sb::Error& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
