// From the arguments of a call to one key.

#include <iostream>

#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(pick, "demo::pick(Tensor x, Tensor[] others) -> Tensor");

int main() {
  const Tensor x = sb::ones({2}), there = sb::ones({2}, sb::Device("meta"));

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(pick);
  library.impl(pick, DispatchKey::Meta, [](const Tensor&, sb::TensorList y) { return y[0]; });
  library.impl(pick, DispatchKey::Autograd, sb::fallthrough);

  sb::ExcludeKeysGuard no_views(DispatchKey::ADInplaceOrView);
  std::cout << to_string(explain(pick, x, std::vector<Tensor>{x, there}));
  // doc: end
}
