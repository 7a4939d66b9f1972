// One kernel for the autograd keys of all backends.

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::DispatchKeySet, sb::Tensor;

SB_OP(square, "demo::square(Tensor x) -> Tensor");

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(square);
  library.impl(square, DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) {
    std::cout << "  computes\n";
    return x * x;
  });
  library.impl(square, DispatchKey::Autograd, [](DispatchKeySet keys, const Tensor& x) {
    std::cout << "  notes what backward needs, for " << keys.highest_key() << "\n";
    sb::BelowAutogradGuard guard;
    return square.redispatch(keys & DispatchKeySet::below(DispatchKey::AutogradFunctionality), x);
  });
  library.impl(square, DispatchKey::AutogradMeta, sb::fallthrough);

  for (const char* device : {"cpu", "meta"}) {
    std::cout << device << "\n";
    square(sb::ones({2}, sb::Device(device)));
  }
  // doc: end
}
