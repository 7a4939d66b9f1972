// Real tensors among fake ones.

#include <iostream>

#include "switchboard/core/error.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

using sb::Tensor;

int main() {
  // doc: begin
  const Tensor real = sb::ones({2, 3});
  sb::FakeTensorMode fake;
  const Tensor x = fake.from_tensor(real);
  std::cout << fake.from_tensor(real).is_same(x) << ", "
            << fake.from_tensor(sb::t(real)).is_alias_of(x) << "\n";
  try {
    x + real;
  } catch (const sb::RuntimeError& error) {
    std::cout << error.what() << "\n";
  }

  sb::FakeTensorMode lenient({.allow_non_fake_inputs = true});
  std::cout << is_fake(lenient.from_tensor(sb::ones({2, 3})) + real) << "\n";
  // doc: end
}
