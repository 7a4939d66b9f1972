// Control flow inside control flow, and inside traces and fake modes.

#include <atomic>
#include <thread>

#include "switchboard/dispatch/modes/pre_dispatch.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// For each number: Collatz's sequence by halves (n -> n / 2 or n * 1.5 + 0.5), until it is below 2.
// map of while_loop of cond.
Tensors collatz(const Tensors& in) {
  return sb::map(
      [](const Tensor& n, const Tensor& half) {
        return while_loop([](const Tensors& t) { return Tensors{t[0] >= 2}; },
                          [](const Tensors& t) {
                            // Odd if its half, rounded to an integer, is not its half.
                            const Tensor halved = t[0] * t[2];
                            const Tensor odd = to_dtype(halved, DType::Int64) != halved;
                            const Tensors next = cond(
                                odd, [](const Tensor& h) { return h * 3 + 0.5; },
                                [](const Tensor& h) { return h * 1; }, {halved});
                            return Tensors{next[0], t[1] + 1, t[2] * 1};
                          },
                          {n, n * 0, half});
      },
      {in[0]}, {in[1]});
}

TEST_CASE("cond in while_loop in map gives, eager and traced, what loops and ifs would") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensors inputs{make({4}, {1, 2, 6, 7}), make({}, {0.5})};
  const std::string text = run_all_ways(collatz, inputs);
  if (make.has_data())
    CHECK_THAT(text, Contains("{1, 1, 1, 1}") && Contains("{0, 1, 6, 11}"));
  else
    CHECK(text == "float32[4] on cuda:0; float32[4] on cuda:0; float32[4] on cuda:0");
}

TEST_CASE("a graph that was traced without data, nested functions and all, runs on data") {
  const Maker fake(Place::Fake);
  const Graph g = trace(collatz, {fake({4}, {1, 2, 6, 7}), fake({}, {0.5})});
  g.lint();
  const Tensors inputs{tensor_of({3}, {27, 3, 1}), tensor_of({}, {0.5})};
  CHECK(text_of(g.run(inputs)) == text_of(collatz(inputs)));
}

TEST_CASE("nested graphs print each once, under the path of their names") {
  const Program f = [](const Tensors& in) {
    return cond(
        in[0],
        [](const Tensors& outer) {
          return cond(
              outer[0], [](const Tensor&, const Tensor& x) { return x + 1; },
              [](const Tensor&, const Tensor& x) { return x + 2; }, outer);
        },
        [](const Tensors& outer) { return Tensors{outer[1] + 3}; }, in);
  };
  const Tensors inputs{tensor_of({}, {0}, DType::Bool), tensor_of({1}, {0})};
  CHECK(run_all_ways(f, inputs) == "float32[1] on cpu {3}");
  CHECK(trace(f, inputs, {.input_names = {"p", "x"}}).to_string() ==
        "graph(p: bool[], x: float32[1]):\n"
        "  cond = cond(p, true_graph, false_graph, [p, x])\n"
        "  getitem = cond[0]\n"
        "  return (getitem,)\n"
        "\n"
        "true_graph(arg0: bool[], arg1: float32[1]):\n"
        "  cond = cond(arg0, true_graph.true_graph, true_graph.false_graph, [arg0, arg1])\n"
        "  getitem = cond[0]\n"
        "  return (getitem,)\n"
        "\n"
        "true_graph.true_graph(arg0: bool[], arg1: float32[1]):\n"
        "  add = aten::add.Scalar(arg1, 1)\n"
        "  return (add,)\n"
        "\n"
        "true_graph.false_graph(arg0: bool[], arg1: float32[1]):\n"
        "  add = aten::add.Scalar(arg1, 2)\n"
        "  return (add,)\n"
        "\n"
        "false_graph(arg0: bool[], arg1: float32[1]):\n"
        "  add = aten::add.Scalar(arg1, 3)\n"
        "  return (add,)\n");
}

TEST_CASE("two calls in one graph have subgraphs of different names") {
  const Program f = [](const Tensors& in) {
    const auto once = [&](const Tensor& x) {
      return cond(
          in[0], [](const Tensor& t) { return t + 1; }, [](const Tensor& t) { return t - 1; },
          {x})[0];
    };
    return Tensors{once(once(in[1]))};
  };
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), tensor_of({1}, {5})};
  CHECK(run_all_ways(f, inputs) == "float32[1] on cpu {7}");
  const Graph g = trace(f, inputs);
  CHECK_THAT(g.to_string(), Contains("cond(arg0, true_graph, false_graph, [arg1])") &&
                                Contains("cond(arg0, true_graph_1, false_graph_1, [getitem])"));
  CHECK(text_of(g.run({tensor_of({}, {0}, DType::Bool), inputs[1]})) == "float32[1] on cpu {3}");
}

TEST_CASE("dead calls of control flow are removed from graphs") {
  Graph g = trace(
      [](const Tensors& in) {
        collatz(in);
        return Tensors{in[0] + 1};
      },
      {tensor_of({1}, {3}), tensor_of({}, {0.5})});
  CHECK(g.eliminate_dead_code() > 0);
  CHECK_THAT(g.to_string(), !Contains("map_impl"));
  CHECK(text_of(g.run({tensor_of({1}, {3}), tensor_of({}, {0.5})})) == "float32[1] on cpu {4}");
}

TEST_CASE("an exception deep inside leaves the thread as it was, eager, traced and fake") {
  const Program f = [](const Tensors& in) {
    return sb::map(
        [](const Tensor& row) {
          return while_loop([](const Tensor& x) { return x < 3; },
                            [](const Tensor& x) {
                              return cond(
                                  x > 1, [](const Tensor&) -> Tensor { throw IndexError("deep"); },
                                  [](const Tensor& t) { return t + 1; }, {x});
                            },
                            {row});
        },
        in);
  };
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensors inputs{make({2}, {4, 0})};
  CHECK(message([&] { f(inputs); }) == "IndexError: deep");
  CHECK(message([&] { trace(f, inputs); }) == "IndexError: deep");
}

TEST_CASE("a trace inside a function of an operator is its own, and the outer one goes on") {
  const Program f = [](const Tensors& in) {
    return cond(
        in[0],
        [](const Tensor& x) {
          const Graph inner = trace([](const Tensors& t) { return collatz(t); },
                                    {tensor_of({1}, {3}), tensor_of({}, {0.5})});
          CHECK_THAT(inner.to_string(), Contains("map_impl"));
          return x + 1;
        },
        [](const Tensor& x) { return x - 1; }, {in[1]});
  };
  const Tensors inputs{tensor_of({}, {1}, DType::Bool), tensor_of({1}, {5})};
  CHECK(run_all_ways(f, inputs) == "float32[1] on cpu {6}");
  CHECK_THAT(trace(f, inputs).to_string(), !Contains("map_impl"));
}

TEST_CASE("a trace that refuses numbers made of data refuses them in functions too") {
  const Program f = [](const Tensors& in) {
    return cond(
        in[0], [](const Tensor& x) { return x + item(sum(x)); },
        [](const Tensor& x) { return x - 1; }, {in[1]});
  };
  const Tensors inputs{tensor_of({}, {0}, DType::Bool), tensor_of({1}, {5})};
  CHECK(message([&] { trace(f, inputs, {.refuse_data_dependent = false}); }).empty());
  CHECK_THAT(message([&] { trace(f, inputs); }),
             Contains("would be burnt into the graph as a constant"));
  // The predicate itself is not burnt in.
  const Program g = [](const Tensors& in) {
    return cond(
        sum(in[1]) > 0, [](const Tensor& x) { return x + 1; },
        [](const Tensor& x) { return x - 1; }, {in[1]});
  };
  CHECK(message([&] { trace(g, inputs); }).empty());
}

TEST_CASE("a pre-dispatch trace records control flow") {
  TracingMode mode;
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {5});
  mode.add_input(pred, "p");
  mode.add_input(x, "x");
  Tensors results;
  {
    PreDispatchModeGuard active(&mode);
    results = cond(
        pred, [](const Tensor& t) { return t + 1; }, [](const Tensor& t) { return t - 1; }, {x});
  }
  CHECK(text_of(results) == "float32[1] on cpu {6}");
  const Graph g = mode.finish(results);
  CHECK_THAT(g.to_string(), Contains("cond(p, true_graph, false_graph, [x])"));
  CHECK(text_of(g.run({tensor_of({}, {0}, DType::Bool), x})) == "float32[1] on cpu {4}");
}

TEST_CASE("a pre-dispatch trace that waits for a trace inside of it records nothing of that") {
  TracingMode mode;
  const Tensor x = tensor_of({1}, {5});
  mode.add_input(x, "x");
  PreDispatchModeGuard active(&mode);
  const Graph inner = mode.trace_subgraph(collatz, {x, tensor_of({}, {0.5})});
  CHECK_THAT(inner.to_string(), Contains("map_impl"));
  CHECK(mode.graph().size() == 1);
}

TEST_CASE("the functions run with autograd on, and the thread is as before afterwards") {
  const Tensor x = tensor_of({1}, {1});
  DispatchTls inside;
  const auto f = [&](const Tensor& t) {
    inside = dispatch_tls;
    return t + 1;
  };
  cond(tensor_of({}, {1}, DType::Bool), f, f, {x});
  CHECK(inside.kept == dispatch_tls.kept);
  CHECK(inside.included == dispatch_tls.included);
  CHECK(dispatch_tls.kept.has(DispatchKey::AutogradFunctionality));
}

TEST_CASE("threads that run and trace control flow at once do not disturb each other") {
  const Tensors inputs{tensor_of({4}, {1, 2, 6, 7}), tensor_of({}, {0.5})};
  const std::string expected = text_of(collatz(inputs));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        right += text_of(collatz(inputs)) == expected;
        right += text_of(trace(collatz, inputs).run(inputs)) == expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4 * 5 * 2);
}

TEST_CASE("an active fake mode takes fake operands, and real ones if it allows them") {
  const Tensor pred = tensor_of({}, {1}, DType::Bool), x = tensor_of({1}, {5});
  const Program f = [](const Tensors& in) {
    return cond(
        in[0], [](const Tensor& t) { return t + 1; }, [](const Tensor& t) { return t - 1; },
        {in[1]});
  };
  {
    FakeTensorMode fake;
    FakeTensorModeGuard active(fake);
    CHECK_THAT(message([&] { f({pred, x}); }), Contains("expected a fake tensor, got a real one"));
    // Only its shape would be asked for: the predicate may be real.
    CHECK(is_fake(f({pred, fake.from_tensor(x)})[0]));
  }
  FakeTensorMode fake({.allow_non_fake_inputs = true});
  FakeTensorModeGuard active(fake);
  const Graph g = trace(f, {pred, x});
  CHECK(is_fake(g.run({pred, x})[0]));
}

TEST_CASE("fake tensors reach their rule without the mode being active, and keep it alive") {
  Tensors inputs;
  {
    const Maker make(Place::Fake);
    inputs = {make({4}, {1, 2, 6, 7}), make({}, {0.5})};
  }
  CHECK(current_mode() == nullptr);
  CHECK(text_of(collatz(inputs)) ==
        "float32[4] on cuda:0; float32[4] on cuda:0; float32[4] on cuda:0");
  // The stack of this call has the last tensors of the mode.
  std::vector<IValue> stack{tensor_callable("f", [](const Tensor& row) { return row < 1; }),
                            Tensors{std::exchange(inputs, {})[0]}, Tensors{}};
  map_impl_op().call_boxed(&stack);
  CHECK(text_of(stack.at(0).to_tensor()) == "bool[4] on cuda:0");
}

}  // namespace
}  // namespace sb::test
