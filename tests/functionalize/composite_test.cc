// Which operators are functionalised by what they call.

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

bool saw_functional = false;

void boxed_twice(const OperatorHandle&, DispatchKeySet, Stack* stack) {
  const Tensor x = stack->back().to_tensor();
  saw_functional = is_functional_tensor(x);
  stack->back() = x * 2;
}

TEST_CASE("an operator is composite if its kernel is registered as one, not if slots look alike") {
  Library library(Library::Kind::Def, "functionalize_composite_test");
  const OperatorHandle op = library.define("f(Tensor x) -> Tensor");
  // One kernel in both places, as a fallback for all of an extension's keys may be.
  const KernelFunction kernel = make_kernel(boxed_twice);
  const bool composite = GENERATE(false, true);
  if (composite) {
    library.impl("f", DispatchKey::CompositeImplicitAutograd, kernel);
  } else {
    library.impl("f", DispatchKey::CPU, kernel);
    library.impl("f", DispatchKey::NestedTensorCPU, kernel);
  }
  const TensorFunction f = [&](const std::vector<Tensor>& in) {
    Stack stack{in[0]};
    op.call_boxed(&stack);
    return std::vector<Tensor>{stack.back().to_tensor()};
  };
  const bool by_mode = GENERATE(false, true);
  saw_functional = !composite;
  const std::vector<Tensor> results =
      (by_mode ? FunctionalMode().functionalize(f) : functionalize(f))({tensor_of({2}, {1, 2})});
  CHECK(values_of(results[0]) == std::vector<double>{2, 4});
  CHECK(saw_functional == composite);
}

}  // namespace
}  // namespace sb::test
