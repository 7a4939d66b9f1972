// An operator that does not do what its schema says.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/schema_check_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"

using sb::Tensor;

SB_OP(sneaky, "demo::sneaky(Tensor x) -> Tensor");

int main() {
  const Tensor x = sb::ones({2});

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(sneaky);
  library.impl(sneaky, sb::DispatchKey::CompositeExplicitAutograd, [](const Tensor& t) {
    t += 1;  // the schema says Tensor, not Tensor(a!)
    return t * 2;
  });

  sb::SchemaCheckMode check;
  sb::ModeGuard guard(&check);
  try {
    sneaky(x);
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }
  // doc: end
}
