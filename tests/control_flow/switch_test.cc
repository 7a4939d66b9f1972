// switch: one of several functions, as an index says.

#include "switchboard/transforms/control_flow/switch.h"

#include "switchboard/autograd/gradcheck.h"
#include "switchboard/tests/control_flow/gradient_cases.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensors program(const Tensors& in) {
  return switch_on(
      in[0],
      branches([](const Tensor& x) { return x + 1; }, [](const Tensor& x) { return -x; },
               [](const Tensor& x) { return x * x; }),
      {in[1]});
}
Tensor index_of(int64_t i) { return tensor_of({}, {static_cast<double>(i)}, DType::Int64); }

TEST_CASE("the index chooses the branch; one that is too low or too high, the first or the last") {
  const Tensor x = tensor_of({2}, {2, 3});
  const auto result = [&](int64_t i) { return text_of(program({index_of(i), x})); };
  CHECK(result(0) == "float32[2] on cpu {3, 4}");
  CHECK(result(1) == "float32[2] on cpu {-2, -3}");
  CHECK(result(2) == "float32[2] on cpu {4, 9}");
  CHECK(result(-5) == result(0));
  CHECK(result(7) == result(2));
  // An index that is known, or one branch, is no call of the operator.
  const auto twice = [](const Tensor& t) { return t * 2; };
  const auto known = [&](int64_t i) {
    return text_of(switch_on(i, branches(twice, [](const Tensor& t) { return t; }), {x}));
  };
  CHECK(known(-1) == "float32[2] on cpu {4, 6}");
  CHECK(known(3) == "float32[2] on cpu {2, 3}");
  CHECK(text_of(switch_on(index_of(9), branches(twice), {x})) == known(0));
}

TEST_CASE("a graph holds every branch under a name of its own") {
  const Tensors inputs{index_of(1), tensor_of({2}, {2, 3})};
  const Graph graph = trace(program, inputs);
  graph.lint();
  CHECK(graph.to_string() ==
        "graph(arg0: int64[], arg1: float32[2]):\n"
        "  clamp = aten::clamp(arg0, 0, 2)\n"
        "  switch = switch(clamp, branch0_graph, branch1_graph, branch2_graph, [arg1])\n"
        "  getitem = switch[0]\n"
        "  return (getitem,)\n"
        "\n"
        "branch0_graph(arg0: float32[2]):\n"
        "  add = aten::add.Scalar(arg0, 1)\n"
        "  return (add,)\n"
        "\n"
        "branch1_graph(arg0: float32[2]):\n"
        "  neg = aten::neg(arg0)\n"
        "  return (neg,)\n"
        "\n"
        "branch2_graph(arg0: float32[2]):\n"
        "  mul = aten::mul.Tensor(arg0, arg0)\n"
        "  return (mul,)\n");
  for (int64_t i = -1; i < 4; ++i) {
    const Tensors others{index_of(i), inputs[1]};
    CHECK(text_of(graph.run(others)) == text_of(program(others)));
  }
  run_all_ways(program, inputs);
}

TEST_CASE("it runs on fake tensors, and functionalised with writes to what branches make") {
  const Maker fake(Place::Fake);
  CHECK(text_of(program({fake({}, {1}, DType::Int64), fake({2}, {1, 2})})) ==
        "float32[2] on cuda:0");
  const Program writes = [](const Tensors& in) {
    const Tensor made = in[1] * 2;
    made += 1;
    const auto f = [made](const Tensor& x) {
      const Tensor y = x * made;
      y += 100;
      return y;
    };
    return switch_on(in[0],
                     branches(
                         f, [](const Tensor& x) { return x * 2; }, f),
                     {in[1]});
  };
  for (int64_t i = 0; i < 3; ++i) {
    const Tensors inputs{index_of(i), tensor_of({2}, {1, 2})};
    CHECK(text_of(functionalize(writes)(inputs)) == text_of(writes(inputs)));
    CHECK(text_of(trace(functionalize(writes), {index_of(1), inputs[1]}).run(inputs)) ==
          text_of(writes(inputs)));
  }
}

TEST_CASE("its gradients are those of the branch, eager, traced and functionalised, to any order") {
  const auto with = [](int64_t i) -> Program {
    return [i](const Tensors& in) {
      const Tensor& w = in[1];
      return switch_on(index_of(i),
                       branches([&](const Tensor& x) { return exp(x * w); },
                                [&](const Tensor& x) { return x * x; },
                                [&](const Tensor& x) { return x * w * w; }),
                       {in[0]});
    };
  };
  for (int64_t i = 0; i < 3; ++i) {
    CHECK(gradcheck_report(with(i), as_leaves(different_inputs()[0])).to_string() == "");
    CHECK(gradgradcheck_report(with(i), as_leaves(different_inputs()[0])).to_string() == "");
    for (const int order : {1, 2}) {
      const Tensors leaves = as_leaves(different_inputs()[1]);
      const Tensors expected = gradients_of(with(i), order)(leaves);
      const Graph graph = trace(gradients_of(with(i), order), leaves);
      CHECK_THAT(graph.to_string(), Contains("switch("));
      check_close(graph.run(different_inputs()[1]), expected);
      check_close(gradients_of(functionalize(with(i)), order)(leaves), expected);
    }
  }
}

TEST_CASE("what is wrong with a call is said by name") {
  const Tensor x = tensor_of({2}, {1, 2});
  const auto f = [](const Tensor& t) { return t; };
  CHECK(message([&] { switch_on(index_of(0), {}, {x}); }) ==
        "RuntimeError: higher_order::switch: branches: expected at least one, got none");
  CHECK(message([&] { switch_on(x, branches(f, f), {x}); }) ==
        "RuntimeError: higher_order::switch: index: expected one element of an integer dtype, got "
        "float32[2] on cpu");
  CHECK(message([&] { control_flow::call_switch(index_of(2), branches(f, f), {x}); }) ==
        "IndexError: higher_order::switch: index: 2 is out of range: there are 2 branches");
  CHECK(message([&] {
          trace(
              [&](const Tensors& in) {
                return switch_on(in[0], branches(f, [](const Tensor& t) { return t > 0; }), {x});
              },
              {index_of(0)});
        }) ==
        "RuntimeError: higher_order::switch: branch 1: result 0: expected float32[2] on cpu, as of "
        "branch 0, got bool[2] on cpu; a graph, and fake tensors, stand for whatever the data say");
  const auto parameters = switch_op().parameters();
  CHECK(parameters == std::vector<std::string>{"index", "branches", "operands"});
}

}  // namespace
}  // namespace sb::test
