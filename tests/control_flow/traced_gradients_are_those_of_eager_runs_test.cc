// A trace of a program that computes gradients is a graph that computes them, also where the data
// go another way than while it was traced.

#include "switchboard/autograd/gradcheck.h"
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
