// One boxed kernel at one key, for every operator that has none there.

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::DispatchKey, sb::DispatchKeySet, sb::Tensor;

int main() {
  const Tensor x = sb::ones({2, 2});

  // doc: begin
  sb::Library fallbacks(sb::Library::Kind::Impl, "_");
  fallbacks.fallback(
      DispatchKey::Tracer, [](const sb::OperatorHandle& op, DispatchKeySet keys, sb::Stack* stack) {
        std::cout << op.schema() << "\n";
        op.redispatch_boxed(keys & DispatchKeySet::below(DispatchKey::Tracer), stack);
      });

  sb::IncludeKeysGuard tracing(DispatchKey::Tracer);
  sb::relu(sb::mm(x, x) + 1);
  // doc: end
}
