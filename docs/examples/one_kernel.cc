// One operator with one kernel, and a call that finds none.

// doc: begin
#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

SB_OP(twice, "demo::twice(Tensor x) -> Tensor");

sb::Tensor twice_cpu(const sb::Tensor& x) { return x + x; }

int main() {
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(twice);
  library.impl(twice, sb::DispatchKey::CPU, twice_cpu);

  std::cout << twice(sb::ones({2})) << "\n";
  try {
    twice(sb::ones({2}, sb::Device("meta")));
  } catch (const sb::NotImplementedError& error) {
    std::cout << error.what() << "\n";
  }
}
// doc: end
