// Gradients pass through control flow, as through loops and ifs.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Each uses w, the last input, most of them without having been given it.
Tensors cond_program(const Tensors& in) {
  const Tensor &x = in[0], &w = in[1];
  return cond(
      sum(x) > 0, [&](const Tensor& t) { return t * w + t; },
      [&](const Tensor& t) { return t * t; }, {x});
}
Tensors nested_program(const Tensors& in) {
  const Tensor& w = in[1];
  return sb::map(
      [&](const Tensor& row) {
        return cond(
            sum(row) > 1, [&](const Tensor& t) { return t * w * w; },
            [&](const Tensor& t) { return t * 3; }, {row});
      },
      {in[0]});
}
Tensors loop_program(const Tensors& in) {
  const Tensor& w = in[1];
  return while_loop([](const Tensor& x, const Tensor&) { return sum(x) < 20; },
                    [&](const Tensor& x, const Tensor& a) { return x * x + w * w + a; }, {in[0]},
                    {in[0]});
}
Tensors scan_program(const Tensors& in) {
  return scan(
      [](const Tensor& carry, const Tensor& x, const Tensor& w) {
        return Tensors{carry * w + x, carry * x};
      },
      {in[1] * 2}, {in[0]}, {in[1]}, /*reverse=*/true);
}
Tensors associative_program(const Tensors& in) {
  return associative_scan([&](const Tensor& a, const Tensor& b) { return a * b * in[1]; }, {in[0]});
}

struct Case {
  const char* name;
  Program program;
};
std::vector<Case> cases() {
  return {{"cond", cond_program},
          {"map of cond", nested_program},
          {"while_loop", loop_program},
          {"scan", scan_program},
          {"associative_scan", associative_program}};
}

Tensors inputs() {
  return {tensor_of({3, 2}, {0.5, 1.2, -0.3, 0.4, 1.1, 0.9}, DType::Float64),
          tensor_of({2}, {1.5, -0.7}, DType::Float64)};
}
Tensors leaves() {
  const Tensors in = inputs();
  for (const Tensor& t : in) set_requires_grad(t);
  return in;
}

TEST_CASE("first and second derivatives are those of finite differences, of captured tensors too") {
  for (const Case& c : cases()) {
    INFO(c.name);
    CHECK(gradcheck_report(c.program, leaves()).to_string() == "");
    CHECK(gradgradcheck_report(c.program, leaves()).to_string() == "");
  }
}

TEST_CASE("a traced graph that holds control flow is derived") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const Graph graph = trace(c.program, inputs());
    const auto run = [&](const Tensors& in) { return graph.run(in); };
    CHECK(text_of(run(inputs())) == text_of(c.program(inputs())));
    CHECK(gradcheck_report(run, leaves()).to_string() == "");
    CHECK(gradgradcheck_report(run, leaves()).to_string() == "");
  }
}

TEST_CASE("under no_grad a trace takes tensors that require gradients") {
  const NoGradGuard no_grad;
  for (const Case& c : cases()) {
    INFO(c.name);
    CHECK(text_of(trace(c.program, leaves()).run(inputs())) == text_of(c.program(inputs())));
  }
}

}  // namespace
}  // namespace sb::test
