// In a fake mode gradients of control flow have the dtypes, sizes and devices of eager ones, first
// and second, although nobody knows which way the data would go.

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/control_flow/gradient_cases.h"

namespace sb::test {
namespace {

std::string forms(const Tensors& tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += str_cat(t.describe(), "; ");
  return text;
}

TEST_CASE("gradients on fake tensors have the form of eager ones") {
  const int order = GENERATE(1, 2);
  const bool active = GENERATE(false, true);
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name << ", order " << order);
    const Tensors real = different_inputs()[0];
    FakeTensorMode fake;
    Tensors inputs;
    for (const Tensor& t : real) {
      inputs.push_back(fake.from_tensor(t));
      set_requires_grad(inputs.back());
    }
    const Program program = gradients_of(c.program, order);
    const Tensors gradients = [&] {
      if (!active) return program(inputs);
      const FakeTensorModeGuard guard(fake);
      return program(inputs);
    }();
    CHECK(forms(gradients) == forms(program(as_leaves(real))));
    for (const Tensor& t : gradients) CHECK(is_fake(t));
  }
}

TEST_CASE("a graph that was traced on fake tensors computes gradients of real ones") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    FakeTensorMode fake;
    Tensors inputs;
    const Tensors real = different_inputs()[0];
    for (const Tensor& t : real) {
      inputs.push_back(fake.from_tensor(t));
      set_requires_grad(inputs.back());
    }
    const Program program = gradients_of(c.program);
    const Graph graph = trace(program, inputs);
    for (const Tensors& others : different_inputs())
      check_close(graph.run(others), program(as_leaves(others)));
  }
}

}  // namespace
}  // namespace sb::test
