#include "catch2/catch.hpp"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::effects {
namespace {

using Catch::Contains;

// Eager, traced, run from a graph, functionalised and both: one after the other they write the
// same.
Graph check_same_effects(const Program& f, const Tensors& inputs, const std::string& expected) {
  CHECK(log_of([&] { f(inputs); }) == expected);
  CHECK(log_of([&] { functionalize(f)(inputs); }) == expected);
  Graph graph;
  CHECK(log_of([&] { graph = trace(functionalize(f), inputs); }) == expected);
  CHECK(log_of([&] { graph.run(inputs); }) == expected);
  CHECK(log_of([&] { graph = trace(f, inputs); }) == expected);
  graph.eliminate_dead_code();
  graph.lint();
  CHECK(log_of([&] { graph.run(inputs); }) == expected);
  CHECK(log_of([&] { functionalize([&](const Tensors& in) { return graph.run(in); })(inputs); }) ==
        expected);
  FakeTensorMode fake;
  CHECK(log_of([&] {
          const FakeTensorModeGuard guard(fake);
          f(fake.from_tensors(inputs));
          trace(f, fake.from_tensors(inputs));
        }) == "");
  return graph;
}

TEST_CASE("of cond, the function that runs") {
  const Program f = [](const Tensors& in) {
    note("before");
    const Tensors results = cond(
        sum(in[0]) > 0,
        [](const Tensor& x) {
          note("positive");
          note_value("x", x);
          return x + 1;
        },
        [](const Tensor& x) {
          note("negative");
          return x - 1;
        },
        {in[0]});
    note("after");
    return results;
  };
  const Graph graph = check_same_effects(f, {numbers({1})}, "before, positive, x=1, after");
  CHECK(log_of([&] { graph.run({numbers({-1})}); }) == "before, negative, after");
  CHECK(graph.to_string() ==
        "graph(arg0: float32[1]):\n"
        "  effects::note('before')  # token 1\n"
        "  sum = aten::sum(arg0)\n"
        "  gt = aten::gt.Scalar(sum, 0)\n"
        "  cond = cond(gt, true_graph, false_graph, [arg0])  # token 2\n"
        "  getitem = cond[0]\n"
        "  effects::note('after')  # token 3\n"
        "  return (getitem,)\n"
        "\n"
        "true_graph(arg0: float32[1]):\n"
        "  effects::note('positive')  # token 1\n"
        "  effects::note_value('x', arg0)  # token 2\n"
        "  add = aten::add.Scalar(arg0, 1)\n"
        "  return (add,)\n"
        "\n"
        "false_graph(arg0: float32[1]):\n"
        "  effects::note('negative')  # token 1\n"
        "  sub = aten::sub.Scalar(arg0, 1)\n"
        "  return (sub,)\n");
}

TEST_CASE("of while_loop, both functions, once a trip") {
  check_same_effects(
      [](const Tensors& in) {
        return while_loop(
            [](const Tensor& x) {
              note("?");
              return sum(x) < 3;
            },
            [](const Tensor& x) {
              note_value("x", x);
              return x + 1;
            },
            {in[0]});
      },
      {numbers({1})}, "?, x=1, ?, x=2, ?");
}

TEST_CASE("of map and scan, once a slice, in order") {
  const Tensor rows = test::tensor_of({3, 1}, {1, 2, 3});
  check_same_effects(
      [](const Tensors& in) {
        return map(
            [](const Tensor& x) {
              note_value("x", x);
              return x * 2;
            },
            {in[0]});
      },
      {rows}, "x=1, x=2, x=3");
  check_same_effects(
      [](const Tensors& in) {
        return scan(
            [](const Tensor& sum, const Tensor& x) {
              note_value("x", x);
              return Tensors{sum + x, sum * 2};
            },
            {zeros({1})}, {in[0]});
      },
      {rows}, "x=1, x=2, x=3");
}

TEST_CASE("of functions in functions") {
  check_same_effects(
      [](const Tensors& in) {
        return map(
            [](const Tensor& x) {
              note("slice");
              return cond(
                  sum(x) > 1,
                  [](const Tensor& y) {
                    note_value("large", y);
                    return Tensors{y + 1};
                  },
                  [](const Tensor& y) { return Tensors{y + 2}; }, {x});
            },
            {in[0]});
      },
      {test::tensor_of({2, 1}, {1, 2})}, "slice, slice, large=2");
}

TEST_CASE("a trace of real tensors refuses what it would have to run to know") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  const Program f = [&](const Tensors& in) {
    push(queue, in[0]);
    return cond(
        sum(in[0]) > 0, [&](const Tensor& x) { return x + pop(queue); },
        [](const Tensor& x) { return x + 1; }, {in[0]});
  };
  CHECK(log_of([&] { f({numbers({1})}); }) == "push 1, pop 1");
  CHECK(log_of([&] { functionalize(f)({numbers({1})}); }) == "push 1, pop 1");
  CHECK_THROWS_AS(trace(f, {numbers({1})}), NotImplementedError);
  CHECK_THROWS_WITH(
      trace(f, {numbers({1})}),
      Contains("effects::pop: higher_order::cond: true_fn calls it and is traced, for "
               "which an operator with an effect must not run"));
}

}  // namespace
}  // namespace sb::effects
