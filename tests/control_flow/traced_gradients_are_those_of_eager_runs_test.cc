// A trace of a program that computes gradients is a graph that computes them, also where the data
// go another way than while it was traced.

#include "switchboard/autograd/gradcheck.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/control_flow/gradient_cases.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Traces a program on some inputs and runs the graph on all of them.
void check_graphs_of(const Program& program, const Program& traced) {
  for (const Tensors& inputs : different_inputs()) {
    const Graph graph = trace(traced, as_leaves(inputs));
    graph.lint();
    for (const Tensors& others : different_inputs())
      check_close(graph.run(others), program(as_leaves(others)));
  }
}

TEST_CASE("first gradients") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Program gradients = gradients_of(c.program);
    check_graphs_of(gradients, gradients);
  }
}

TEST_CASE("second gradients") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Program gradients = gradients_of(c.program, 2);
    check_graphs_of(gradients, gradients);
  }
}

TEST_CASE("a graph that was traced with gradients is derived when it runs") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Graph graph = trace(c.program, as_leaves(different_inputs()[0]));
    const Program run = [&](const Tensors& in) { return graph.run(in); };
    for (const Tensors& inputs : different_inputs()) {
      check_close(run(inputs), c.program(inputs));
      check_close(gradients_of(run)(as_leaves(inputs)), gradients_of(c.program)(as_leaves(inputs)));
    }
    CHECK(gradcheck_report(run, as_leaves(different_inputs()[1])).to_string() == "");
  }
}

TEST_CASE("a graph of gradients is derived when it runs") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Graph graph = trace(gradients_of(c.program), as_leaves(different_inputs()[0]));
    const Program run = [&](const Tensors& in) { return graph.run(in); };
    for (const Tensors& inputs : different_inputs())
      check_close(gradients_of(run)(as_leaves(inputs)),
                  gradients_of(c.program, 2)(as_leaves(inputs)));
  }
}

// Zeros times an infinite derivative would be NaN.
TEST_CASE("what no gradient reaches is not derived") {
  const Tensors inputs{to(zeros({2}), DType::Float64), to(ones({3, 2}), DType::Float64)};
  const Program unused_carry = [](const Tensors& in) {
    const Tensors results = scan(
        [](const Tensor& carry, const Tensor& row) {
          return Tensors{sqrt(carry), row * row};
        },
        {in[0]}, {in[1]});
    return Tensors{results[1]};
  };
  // The second is computed from the first one run before.
  const Program used_later = [](const Tensors& in) {
    const Tensors results = scan(
        [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& row) {
          return Tensors{a * row, a + b, sqrt(c)};
        },
        {select(in[1], 0, 0), select(in[1], 0, 1), in[0]}, {in[1]});
    return Tensors{results[1]};
  };
  const Program unused_in_loop = [](const Tensors& in) {
    const Tensors results =
        while_loop([](const Tensor& n, const Tensor&, const Tensor&) { return n < 3; },
                   [](const Tensor& n, const Tensor& a, const Tensor& b) {
                     return Tensors{n + 1, sqrt(a), b * 2.0};
                   },
                   {zeros({}), in[0], in[1]});
    return Tensors{results[2]};
  };
  for (const Program& program : {unused_carry, used_later, unused_in_loop}) {
    const Program gradients = gradients_of(program);
    check_close(trace(gradients, as_leaves(inputs)).run(inputs), gradients(as_leaves(inputs)));
  }
}

TEST_CASE("backward after the trace has ended goes through what it recorded") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Tensors in = as_leaves(different_inputs()[1]);
    Tensors results;
    trace([&](const Tensors& given) { return results = c.program(given); }, in);
    const Tensors eager = c.program(in);
    for (size_t i = 0; i < eager.size(); ++i)
      CHECK(requires_grad(results[i]) == requires_grad(eager[i]));
    check_close(gradients_of([&](const Tensors&) { return results; })(in),
                gradients_of(c.program)(in));
  }
}

}  // namespace
}  // namespace sb::test
