// gradcheck and gradgradcheck of control flow, in each way of running it: as it is written, as a
// graph that was traced with or without gradients, as a graph of gradients, functionalised.

#include <memory>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/tests/control_flow/gradient_cases.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

Program graph_of(const Program& program, const Tensors& inputs) {
  const auto graph = std::make_shared<const Graph>(trace(program, inputs));
  return [graph](const Tensors& in) { return graph->run(in); };
}

void confirm(const std::string& name, const Program& program) {
  for (const Tensors& inputs : {different_inputs()[0], different_inputs()[1]}) {
    INFO(name);
    CHECK(gradcheck_report(program, as_leaves(inputs)).to_string() == "");
    CHECK(gradgradcheck_report(program, as_leaves(inputs)).to_string() == "");
  }
}

TEST_CASE("as it is written") {
  for (const GradientCase& c : gradient_cases()) confirm(c.name, c.program);
}

TEST_CASE("as a graph") {
  for (const GradientCase& c : gradient_cases()) {
    confirm(c.name, graph_of(c.program, different_inputs()[0]));
    confirm(c.name, graph_of(c.program, as_leaves(different_inputs()[0])));
  }
}

TEST_CASE("functionalised, and as a graph of that") {
  for (const GradientCase& c : gradient_cases()) {
    confirm(c.name, functionalize(c.program));
    confirm(c.name, graph_of(functionalize(c.program), as_leaves(different_inputs()[0])));
  }
}

TEST_CASE("as a graph of gradients, whose gradients are the second ones") {
  for (const GradientCase& c : gradient_cases()) {
    INFO(c.name);
    const Program gradients = graph_of(gradients_of(c.program), as_leaves(different_inputs()[0]));
    CHECK(gradcheck_report(gradients, as_leaves(different_inputs()[1])).to_string() == "");
  }
}

}  // namespace
}  // namespace sb::test
