// What a thread adds to the keys of its calls, and takes away.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(where_am_i, "demo::where_am_i(Tensor x) -> ()");

int main() {
  const Tensor x = sb::ones({2});

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(where_am_i);
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::Tracer})
    library.impl(where_am_i, key, [key](const Tensor&) { std::cout << key << "\n"; });

  where_am_i(x);
  {
    sb::ExcludeKeysGuard below_autograd(DispatchKey::AutogradCPU);
    where_am_i(x);
    {
      sb::IncludeKeysGuard tracing(DispatchKey::Tracer);
      where_am_i(x);
      sb::ExcludeKeysGuard not_traced(DispatchKey::Tracer);  // exclusion beats inclusion
      where_am_i(x);
    }
  }
  try {
    sb::IncludeKeysGuard tracing(DispatchKey::Tracer);
    throw sb::RuntimeError("guards end with exceptions, too");
  } catch (const sb::RuntimeError&) {
  }
  where_am_i(x);
  // doc: end
}
