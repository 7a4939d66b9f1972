// A program that does not link //transforms/control_flow/derivatives has gradients of plain runs
// alone: under a trace or a fake mode they are refused, naming operator, mode and tensor.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/control_flow/gradient_cases.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("without the library nothing is cut in silence") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Tensors in = as_leaves(different_inputs()[0]);
    c.program(in);
    CHECK_THAT(message([&] { trace(c.program, in); }),
               Contains("NotImplementedError: higher_order::") && Contains("under TracingMode") &&
                   Contains("requires a gradient") &&
                   Contains("does not link //transforms/control_flow/derivatives"));
    const NoGradGuard no_grad;
    CHECK(message([&] { trace(c.program, in); }) == "");
  }
}

TEST_CASE("a captured tensor is found, one that a function gives as it is, too") {
  const Tensor w = tensor_of({1}, {2});
  set_requires_grad(w);
  const auto refused = [&](auto f) {
    return message([&] {
      trace([&](const Tensors& in) { return sb::map(f, in); }, {tensor_of({2, 1}, {1, 2})});
    });
  };
  CHECK_THAT(refused([&](const Tensor& row) { return row * w; }),
             Contains("float32[1] on cpu, captured by a function that calls aten::mul.Tensor,"));
  CHECK_THAT(refused([&](const Tensor&) { return w; }),
             Contains("float32[1] on cpu, captured by a function that calls nothing,"));
}

TEST_CASE("in a fake mode") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(tensor_of({2}, {1, 2}));
  set_requires_grad(x);
  CHECK_THAT(message([&] { sb::map([](const Tensor& t) { return t * 2; }, {x}); }),
             Contains("higher_order::map_impl: under the mode of its arguments: float32[2] on cpu, "
                      "an argument, requires a gradient"));
}

}  // namespace
}  // namespace sb::test
