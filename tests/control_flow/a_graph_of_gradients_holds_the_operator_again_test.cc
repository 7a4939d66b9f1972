// The gradient of a call of a higher-order operator is such a call, in graphs too.

#include "switchboard/tests/control_flow/gradient_cases.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("backward of cond is a cond over the backward of its functions") {
  const Program program = [](const Tensors& in) {
    const Tensor y = cond(
        in[0], [](const Tensor& x) { return x * x; }, [](const Tensor& x) { return -x; },
        {in[1]})[0];
    return grad({sum(y)}, {in[1]});
  };
  const Tensor x = tensor_of({2}, {3, 4});
  set_requires_grad(x);
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), x};
  const Graph graph = trace(program, inputs);
  CHECK(graph.to_string() ==
        "graph(arg0: bool[], arg1: float32[2]):\n"
        "  cond = cond(arg0, true_graph, false_graph, [arg1])\n"
        "  getitem = cond[0]\n"
        "  sum = aten::sum(getitem)\n"
        "  ones_like = aten::ones_like(sum)\n"
        "  expand = aten::expand(ones_like, [2])\n"
        "  clone = aten::clone(expand, memory_format=contiguous_format)\n"
        "  cond_1 = cond(arg0, true_graph_1, false_graph_1, [arg1, clone])\n"
        "  getitem_1 = cond_1[0]\n"
        "  return (getitem_1,)\n"
        "\n"
        "true_graph(arg0: float32[2]):\n"
        "  mul = aten::mul.Tensor(arg0, arg0)\n"
        "  return (mul,)\n"
        "\n"
        "false_graph(arg0: float32[2]):\n"
        "  neg = aten::neg(arg0)\n"
        "  return (neg,)\n"
        "\n"
        "true_graph_1(arg0: float32[2], arg1: float32[2]):\n"
        "  mul = aten::mul.Tensor(arg1, arg0)\n"
        "  mul_1 = aten::mul.Tensor(arg1, arg0)\n"
        "  add = aten::add.Tensor(mul, mul_1)\n"
        "  clone = aten::clone(add, memory_format=contiguous_format)\n"
        "  return (clone,)\n"
        "\n"
        "false_graph_1(arg0: float32[2], arg1: float32[2]):\n"
        "  neg = aten::neg(arg1)\n"
        "  clone = aten::clone(neg, memory_format=contiguous_format)\n"
        "  return (clone,)\n");
  CHECK(text_of(graph.run(inputs)) == "float32[2] on cpu {6, 8}");
  CHECK(text_of(graph.run({tensor_of({}, {0}, DType::Bool), inputs[1]})) ==
        "float32[2] on cpu {-1, -1}");
}

// The calls of higher-order operators in the order in which a graph makes them.
std::string calls_of(const Graph& graph) {
  std::string calls;
  for (size_t i = 0; i < graph.size(); ++i)
    if (graph[i].kind() == Node::Kind::HigherOrder)
      calls += str_cat(calls.empty() ? "" : ", ", graph[i].higher_order().name());
  return calls;
}

TEST_CASE("each operator comes again in the gradient") {
  const auto calls = [](const std::string& name, int order) {
    for (const GradientCase& c : gradient_cases())
      if (c.name == name)
        return calls_of(trace(gradients_of(c.program, order), as_leaves(different_inputs()[0])));
    return std::string("no such case");
  };
  CHECK(calls("cond", 1) == "cond, cond");
  CHECK(calls("cond", 2) == "cond, cond, cond, cond");
  CHECK(calls("map", 1) == "map_impl, map_impl");
  CHECK(calls("map of cond", 1) == "map_impl, map_impl");
  CHECK(calls("scan", 1) == "scan, scan");
  CHECK(calls("associative_scan", 1) == "scan, scan");
  // What each trip began with is kept; where there was a trip, a scan goes back.
  CHECK(calls("while_loop", 1) == "while_loop_stack_output, cond");
}

}  // namespace
}  // namespace sb::test
