// A second kernel at one key: over the first, unless that is not meant.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(version, "demo::version(Tensor x) -> int");

int main() {
  const Tensor x = sb::ones({2});

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(version);
  library.impl(version, DispatchKey::CPU, [](const Tensor&) { return int64_t{1}; });
  {
    sb::Library mine(sb::Library::Kind::Impl, "demo");
    mine.impl(version, DispatchKey::CPU, [](const Tensor&) { return int64_t{2}; });
    std::cout << "overridden: version " << version(x) << "\n";
    try {
      mine.allow_override(false).impl(version, DispatchKey::CPU,
                                      [](const Tensor&) { return int64_t{3}; });
    } catch (const sb::RuntimeError& error) {
      std::cout << error.what() << "\n";
    }
  }
  std::cout << "afterwards: version " << version(x) << "\n";
  // doc: end
}
