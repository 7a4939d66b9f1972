// In a fake mode gradients of control flow have the dtypes, sizes and devices of eager ones, first
// and second, although nobody knows which way the data would go.

#include <functional>

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
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

TEST_CASE("a fake leaf gets a fake gradient though no mode is active, however it lies in memory") {
  const std::vector<std::function<Tensor(const Tensor&)>> programs{
      [](const Tensor& x) { return transpose(x, 0, 1) * transpose(x, 0, 1); },
      [](const Tensor& x) {
        return as_strided(x, {2, 2}, {1, 1}, 1);
      },
      [](const Tensor& x) {
        const Tensor y = x * 2;
        Tensor row = select(y, 0, 1);
        row *= 3;
        return y;
      },
  };
  const auto form = [](const Tensor& t) {
    std::string text = t.describe();
    for (const int64_t stride : t.strides()) text += str_cat(" ", stride);
    return text;
  };
  for (size_t i = 0; i < programs.size(); ++i) {
    INFO("program " << i);
    // A dense leaf of other strides than its gradient has, too.
    for (const Tensor& real : {ones({2, 3}), transpose(ones({3, 2}), 0, 1)}) {
      FakeTensorMode mode;
      const Tensor fake = mode.from_tensor(real);
      for (const Tensor& leaf : {real, fake}) {
        set_requires_grad(leaf);
        backward(sum(programs[i](leaf)));
      }
      CHECK(is_fake(grad_of(fake)));
      CHECK(form(grad_of(fake)) == form(grad_of(real)));
    }
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
