// Gradients of an operator that calls one function are those of the function, in every layer.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

template <class F>
void for_each_case(F f) {
  for (const Region& region : regions()) {
    for (const RegionProgram& program : region_programs()) {
      INFO(region.name << ": a function " << program.name);
      f([&](const Tensors& in) { return program.run(region, in); },
        [&](const Tensors& in) { return program.run(kNoRegion, in); });
    }
  }
}

TEST_CASE("eager and functionalised, to the second order") {
  for_each_case([](const Program& program, const Program& plain) {
    const Tensors leaves = as_leaves(different_inputs()[0]);
    for (const int order : {1, 2}) {
      const Tensors expected = gradients_of(plain, order)(leaves);
      check_close(gradients_of(program, order)(leaves), expected);
      check_close(gradients_of(functionalize(program), order)(leaves), expected);
    }
  });
}

TEST_CASE("traced: a graph of gradients, and gradients of a graph") {
  for_each_case([](const Program& program, const Program& plain) {
    const Tensors leaves = as_leaves(different_inputs()[0]);
    for (const int order : {1, 2}) {
      const Graph graph = trace(gradients_of(program, order), leaves);
      graph.lint();
      for (const Tensors& others : different_inputs())
        check_close(graph.run(others), gradients_of(plain, order)(as_leaves(others)));
    }
    const Graph graph = trace(program, leaves);
    check_close(gradients_of([&](const Tensors& in) { return graph.run(in); })(leaves),
                gradients_of(plain)(leaves));
  });
}

TEST_CASE("with grad mode off inside, none passes, also in graphs") {
  const Program program = [](const Tensors& in) {
    Tensors r = wrap_with_set_grad_enabled(false, [](const Tensor& x) { return exp(x); }, {in[0]});
    return Tensors{r[0] * in[0]};
  };
  const Program plain = [](const Tensors& in) { return Tensors{exp(detach(in[0])) * in[0]}; };
  const Tensors leaves = as_leaves(different_inputs()[0]);
  CHECK_FALSE(requires_grad(
      wrap_with_set_grad_enabled(false, [](const Tensor& x) { return exp(x); }, {leaves[0]})[0]));
  const Tensors expected = gradients_of(plain)(leaves);
  check_close(gradients_of(program)(leaves), expected);
  check_close(gradients_of(functionalize(program))(leaves), expected);
  check_close(trace(gradients_of(program), leaves).run(leaves), expected);
  const Graph graph = trace(program, leaves);
  check_close(gradients_of([&](const Tensors& in) { return graph.run(in); })(leaves), expected);
}

TEST_CASE("with grad mode on inside of a program without, they are recorded, also in graphs") {
  const Program program = [](const Tensors& in) {
    const GradModeGuard off(false);
    return wrap_with_set_grad_enabled(true, [](const Tensor& x) { return exp(x); }, {in[0]});
  };
  const Program plain = [](const Tensors& in) { return Tensors{exp(in[0])}; };
  const Tensors leaves = as_leaves(different_inputs()[0]);
  const Tensors expected = gradients_of(plain)(leaves);
  check_close(gradients_of(program)(leaves), expected);
  check_close(trace(gradients_of(program), leaves).run(leaves), expected);
  const Graph graph = trace(program, leaves);
  check_close(gradients_of([&](const Tensors& in) { return graph.run(in); })(leaves), expected);
}

TEST_CASE("what a region hands on keeps its gradient with grad mode off, also in graphs") {
  const auto same = [](const Tensor& x) { return x; };
  const Program program = [&](const Tensors& in) {
    const Tensor y = in[0] * 2;
    const Tensors given = wrap_with_set_grad_enabled(false, same, {y});
    const Tensors captured = wrap_with_set_grad_enabled(false, [y] { return y; }, {});
    return Tensors{exp(given[0] * captured[0]) * in[0]};
  };
  const Program plain = [](const Tensors& in) {
    const Tensor y = in[0] * 2;
    return Tensors{exp(y * y) * in[0]};
  };
  const Tensors leaves = as_leaves(different_inputs()[0]);
  for (const int order : {1, 2}) {
    const Tensors expected = gradients_of(plain, order)(leaves);
    check_close(gradients_of(program, order)(leaves), expected);
    check_close(trace(gradients_of(program, order), leaves).run(leaves), expected);
    const Graph graph = trace(program, leaves);
    check_close(gradients_of([&](const Tensors& in) { return graph.run(in); }, order)(leaves),
                expected);
  }
  const Program under_no_grad = [&](const Tensors& in) {
    const GradModeGuard off(false);
    return cond(sum(in[0]) > 4, same, same, {in[0]});
  };
  const Tensors expected = gradients_of(under_no_grad)(leaves);
  check_close(trace(gradients_of(under_no_grad), leaves).run(leaves), expected);
}

TEST_CASE("a graph of a region has one grad mode: a function with another one is refused by name") {
  for (const bool outside : {false, true}) {
    INFO("grad mode " << outside);
    const auto turns = [outside](const Tensor& x) {
      const GradModeGuard inside(!outside);
      return x * x;
    };
    const Program program = [&](const Tensors& in) {
      return Tensors{in[0] * wrap_with_set_grad_enabled(outside, turns, {in[0]})[0]};
    };
    const Tensors leaves = as_leaves(different_inputs()[0]);
    for (const Tensors& inputs : {leaves, different_inputs()[0]}) {
      CHECK_THROWS_WITH(
          trace(program, inputs),
          Catch::Matchers::Contains("higher_order::wrap_with_set_grad_enabled: wrapped_func: under "
                                    "TracingMode: it calls aten::mul.Tensor with gradients " +
                                    std::string(outside ? "off" : "on")));
    }
    // As a region of its own.
    const Program nested = [&](const Tensors& in) {
      const auto own = [&](const Tensor& x) {
        return wrap_with_set_grad_enabled(!outside, [](const Tensor& t) { return t * t; }, {x});
      };
      return Tensors{in[0] * wrap_with_set_grad_enabled(outside, own, {in[0]})[0]};
    };
    const Tensors expected = gradients_of(nested)(leaves);
    check_close(gradients_of(program)(leaves), expected);
    const Graph graph = trace(nested, different_inputs()[0]);
    check_close(gradients_of([&](const Tensors& in) { return graph.run(in); })(leaves), expected);
  }
}

TEST_CASE("in a fake mode, gradients that only a function turns on are refused by name") {
  const auto turns = [](const Tensor& x) {
    const GradModeGuard on(true);
    return x * x;
  };
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(ones({2}));
  set_requires_grad(x);
  const Tensor pred = fake.from_tensor(full({}, true, DType::Bool));
  const auto refused = Catch::Matchers::Contains("a function turns gradients on");
  CHECK_THROWS_WITH(wrap_with_set_grad_enabled(false, turns, {x}), refused);
  const GradModeGuard off(false);
  CHECK_THROWS_WITH(cond(pred, turns, turns, {x}), refused);
  // What a function hands on requires one all the same.
  const auto same = [](const Tensor& t) { return t; };
  CHECK(requires_grad(cond(pred, same, same, {x})[0]));
}

TEST_CASE("calls with one identifier share a subgraph, and their gradients one, too") {
  const auto block = [](const Tensor& t) { return exp(t * 0.5); };
  const Program program = [&](const Tensors& in) {
    const Tensors once = invoke_subgraph(block, "block", {in[0]});
    return invoke_subgraph(block, "block", once);
  };
  const Tensors leaves = as_leaves(different_inputs()[0]);
  CHECK(trace(program, different_inputs()[0]).to_string() ==
        "graph(arg0: float64[3, 2], arg1: float64[2]):\n"
        "  invoke_subgraph = invoke_subgraph(repeated_subgraph, 'block', [arg0])\n"
        "  getitem = invoke_subgraph[0]\n"
        "  invoke_subgraph_1 = invoke_subgraph(repeated_subgraph, 'block', [getitem])\n"
        "  getitem_1 = invoke_subgraph_1[0]\n"
        "  return (getitem_1,)\n"
        "\n"
        "repeated_subgraph(arg0: float64[3, 2]):\n"
        "  mul = aten::mul.Scalar(arg0, 0.5)\n"
        "  exp = aten::exp(mul)\n"
        "  return (exp,)\n");
  const std::string gradients = trace(gradients_of(program), leaves).to_string();
  INFO(gradients);
  CHECK_THAT(gradients, Catch::Matchers::Contains("repeated_subgraph_1, 'block_backward'"));
  CHECK_THAT(gradients, !Catch::Matchers::Contains("repeated_subgraph_2"));
  // Another function, another size, or another name is another subgraph.
  const Graph other = trace(
      [&](const Tensors& in) {
        Tensors r = invoke_subgraph(block, "block", {in[0]});
        r.push_back(invoke_subgraph(block, "other", {in[0]})[0]);
        r.push_back(invoke_subgraph(block, "block", {in[1]})[0]);
        r.push_back(invoke_subgraph([](const Tensor& t) { return t + 1; }, "block", {in[0]})[0]);
        return r;
      },
      different_inputs()[0]);
  CHECK_THAT(other.to_string(), Catch::Matchers::Contains("repeated_subgraph_3("));
}

}  // namespace
}  // namespace sb::test
