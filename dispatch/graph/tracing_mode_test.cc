#include "switchboard/dispatch/graph/tracing_mode.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using Tensors = std::vector<Tensor>;

SB_OP(plus, "traced::plus(Tensor x, Tensor y) -> Tensor");
SB_OP(inc_, "traced::inc_(Tensor(a!) x) -> Tensor(a!)");
SB_OP(read, "traced::read(Tensor x) -> float");
SB_OP(parts, "traced::parts(Tensor x) -> (Tensor, Tensor[])");
SB_OP(make, "traced::make() -> Tensor");
SB_OP(nothing, "traced::nothing(Tensor x) -> ()");
SB_OP(fail, "traced::fail(Tensor x) -> Tensor");

Tensor number(float v) {
  const Tensor t = empty_on(DeviceType::CPU, {}, DType::Float32);
  *t.data<float>() = v;
  return t;
}
float value(const Tensor& t) { return *t.data<float>(); }

struct Ops {
  Ops() : library(Library::Kind::Def, "traced") {
    const DispatchKey cpu = DispatchKey::CompositeExplicitAutograd;
    library.define(plus);
    library.impl(plus, cpu,
                 [](const Tensor& x, const Tensor& y) { return number(value(x) + value(y)); });
    library.define(inc_);
    library.impl(inc_, cpu, [](const Tensor& x) {
      *x.data<float>() += 1;
      return x;
    });
    library.define(read, Tag::data_dependent_output);
    library.impl(read, cpu, [](const Tensor& x) { return static_cast<double>(value(x)); });
    library.define(parts);
    library.impl(parts, cpu, [](const Tensor& x) {
      return std::make_tuple(number(value(x)), Tensors{number(1), number(2)});
    });
    library.define(make);
    library.impl(make, cpu, [] { return number(7); });
    library.define(nothing);
    library.impl(nothing, cpu, [](const Tensor&) {});
    library.define(fail);
    library.impl(fail, cpu, [](const Tensor&) -> Tensor { throw ValueError("no"); });
  }
  Library library;
};

TEST_CASE("a trace records the calls on its inputs, and runs again on others") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        const Tensor made = make();
        nothing(made);
        return Tensors{plus(plus(in[0], in[1]), made), in[1]};
      },
      {number(1), number(2)}, {.input_names = {"x"}});
  CHECK(g.to_string() ==
        "graph(x: float32[], arg1: float32[]):\n"
        "  make = traced::make()\n"
        "  traced::nothing(make)  # token 1\n"
        "  plus = traced::plus(x, arg1)\n"
        "  plus_1 = traced::plus(plus, make)\n"
        "  return (plus_1, arg1)\n");
  g.lint();
  CHECK(value(g.run({number(10), number(20)})[0]) == 37);
}

TEST_CASE("several results, and results in lists, are items") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        const auto [first, rest] = parts(in[0]);
        return Tensors{rest[1], first};
      },
      {number(1)});
  CHECK(g.to_string() ==
        "graph(arg0: float32[]):\n"
        "  parts = traced::parts(arg0)\n"
        "  getitem = parts[0]\n"
        "  getitem_1 = parts[1]\n"
        "  getitem_2 = getitem_1[0]\n"
        "  getitem_3 = getitem_1[1]\n"
        "  return (getitem_3, getitem)\n");
  const Tensors out = g.run({number(5)});
  CHECK(value(out[0]) == 2);
  CHECK(value(out[1]) == 5);
}

TEST_CASE("after an in-place operator its input stands for the new node") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        const Tensor y = plus(in[0], in[0]);
        inc_(y);
        return Tensors{plus(y, in[0])};
      },
      {number(1)});
  CHECK(g.to_string() ==
        "graph(arg0: float32[]):\n"
        "  plus = traced::plus(arg0, arg0)\n"
        "  inc_ = traced::inc_(plus)\n"
        "  plus_1 = traced::plus(inc_, arg0)\n"
        "  return (plus_1,)\n");
  CHECK(value(g.run({number(10)})[0]) == 31);
}

TEST_CASE("a tensor from outside becomes a constant, which the graph keeps") {
  Ops ops;
  WeakIntrusivePtr<TensorImpl> weak;
  {
    Graph g;
    {
      const Tensor outside = number(5);
      weak = WeakIntrusivePtr<TensorImpl>(outside.impl());
      g = trace(
          [&](const Tensors& in) {
            return Tensors{plus(plus(in[0], outside), outside), outside, Tensor()};
          },
          {number(1)});
    }
    CHECK(g.to_string() ==
          "graph(arg0: float32[]):\n"
          "  _tensor_constant0 = self._tensor_constant0  # float32[]\n"
          "  plus = traced::plus(arg0, _tensor_constant0)\n"
          "  plus_1 = traced::plus(plus, _tensor_constant0)\n"
          "  return (plus_1, _tensor_constant0, undefined)\n");
    CHECK_FALSE(weak.expired());
    CHECK(value(g.run({number(10)})[0]) == 20);
  }
  CHECK(weak.expired());
}

TEST_CASE("a number that was made a tensor stays a number") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        const Tensor two = empty_on(DeviceType::CPU, {}, DType::Float64);
        *two.data<double>() = 2.5;
        two.impl()->set_wrapped_number(true);
        nothing(two);
        return Tensors{in[0]};
      },
      {number(1)});
  CHECK_THAT(g.to_string(), Contains("  traced::nothing(2.5)  # token 1\n"));
}

TEST_CASE("a number read from a tensor is burnt in, or refused") {
  Ops ops;
  const auto f = [](const Tensors& in) {
    return read(in[0]) > 0 ? Tensors{plus(in[0], in[0])} : Tensors{in[0]};
  };
  const Graph g = trace(f, {number(1)}, {.refuse_data_dependent = false});
  CHECK(value(g.run({number(-1)})[0]) == -2);  // the branch that was traced
  CHECK_THROWS_AS(trace(f, {number(1)}), DataDependentOutputError);
  CHECK_THROWS_WITH(
      trace(f, {number(1)}),
      "traced::read: the result depends on the data of 'arg0' (float32[] on cpu), and "
      "would be burnt into the graph as a constant; TraceOptions::refuse_data_dependent = false "
      "allows that");
  const Tensor outside = number(3);
  const auto constant = [&](const Tensors& in) { return read(outside) > 0 ? in : Tensors{}; };
  CHECK(trace(constant, {number(1)}).size() == 4);
}

TEST_CASE("a call that throws is not recorded; an exception leaves the modes as they were") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        CHECK_THROWS_AS(fail(in[0]), ValueError);
        return Tensors{plus(in[0], in[0])};
      },
      {number(1)});
  CHECK(g.size() == 3);
  const size_t before = mode_stack_size();
  const DispatchKeySet included = dispatch_tls.included;
  CHECK_THROWS_AS(trace([](const Tensors& in) { return Tensors{fail(in[0])}; }, {number(1)}),
                  ValueError);
  CHECK(mode_stack_size() == before);
  CHECK(dispatch_tls.included == included);
}

TEST_CASE("a tensor given twice must be given twice to the graph, and bad inputs are refused") {
  Ops ops;
  const Tensor x = number(3), y = number(1);
  const Graph g = trace([](const Tensors& in) { return Tensors{plus(in[0], in[1])}; }, {x, x});
  CHECK(g.to_string() ==
        "graph(arg0: float32[], arg1 = arg0):\n"
        "  plus = traced::plus(arg0, arg0)\n"
        "  return (plus,)\n");
  g.lint();
  CHECK(value(g.run({y, y})[0]) == 2);
  CHECK_THROWS_WITH(g.run({number(1), number(20)}),
                    "graph: input 1 'arg1': expected the tensor that 'arg0' is, as when the graph "
                    "was made, got another");
  const auto id = [](const Tensors& in) { return in; };
  CHECK_THROWS_WITH(trace(id, {x, Tensor()}), Contains("input 1 'arg1': expected a tensor"));
  CHECK_THROWS_AS(trace(id, {x}, {.input_names = {"a", "b"}}), ValueError);
  CHECK(trace(id, {}).to_string() == "graph():\n  return ()\n");
}

TEST_CASE("a trace inside a trace is its own, and its graph can run in the outer one") {
  Ops ops;
  const Graph outer = trace(
      [](const Tensors& in) {
        const Graph inner =
            trace([](const Tensors& v) { return Tensors{plus(v[0], v[0])}; }, {in[0]});
        CHECK(inner.size() == 3);
        return Tensors{inner.run({plus(in[0], in[1])})[0]};
      },
      {number(1), number(2)});
  CHECK(outer.to_string() ==
        "graph(arg0: float32[], arg1: float32[]):\n"
        "  plus = traced::plus(arg0, arg1)\n"
        "  plus_1 = traced::plus(plus, plus)\n"
        "  return (plus_1,)\n");
  CHECK(mode_stack_size() == 0);
}

TEST_CASE("an inner trace that throws lets the outer one go on") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        CHECK_THROWS_AS(trace([](const Tensors& v) { return Tensors{fail(v[0])}; }, in),
                        ValueError);
        return Tensors{plus(in[0], in[0])};
      },
      {number(1)});
  CHECK(g.size() == 3);
}

// A conditional that is written by hand: a rule of a higher-order operator does the same.
class Choose : public HigherOrderTarget {
 public:
  std::string name() const override { return "choose"; }
  std::vector<IValue> run(std::vector<IValue> arguments,
                          const std::vector<std::shared_ptr<const Graph>>& graphs) const override {
    const bool first = value(arguments.at(0).to_tensor()) > 0;
    return graphs.at(first ? 0 : 1)->run_values({arguments.at(1)});
  }
};

TEST_CASE("a higher-order rule records itself with subgraphs") {
  Ops ops;
  TracingMode mode;
  const Tensor pred = number(1), x = number(2);
  mode.add_input(pred, "pred");
  mode.add_input(x, "x");
  const auto branch = [&](auto f) {
    return std::make_shared<const Graph>(mode.trace_subgraph(f, {x}));
  };
  Tensors results;
  {
    ModeGuard guard(&mode);
    const Subgraph yes{"true_graph",
                       branch([](const Tensors& in) { return Tensors{plus(in[0], in[0])}; })};
    const Subgraph no{"false_graph", branch([](const Tensors& in) { return Tensors{in[0]}; })};
    const Tensor result = number(4);
    Node* const node = mode.graph().call_higher_order(
        std::make_shared<Choose>(), {mode.argument_of(pred), yes, no, mode.argument_of(x)});
    mode.track_results(node, {result});
    results = {plus(result, x)};
  }
  const Graph g = mode.finish(results);
  g.lint();
  CHECK(g.to_string() ==
        "graph(pred: float32[], x: float32[]):\n"
        "  choose = choose(pred, true_graph, false_graph, x)\n"
        "  getitem = choose[0]\n"
        "  plus = traced::plus(getitem, x)\n"
        "  return (plus,)\n"
        "\n"
        "true_graph(arg0: float32[]):\n"
        "  plus = traced::plus(arg0, arg0)\n"
        "  return (plus,)\n"
        "\n"
        "false_graph(arg0: float32[]):\n"
        "  return (arg0,)\n");
  CHECK(value(g.run({number(1), number(5)})[0]) == 15);
  CHECK(value(g.run({number(-1), number(5)})[0]) == 10);
}

TEST_CASE("a subgraph refuses a value of the graph around it that is no operand") {
  Ops ops;
  TracingMode mode;
  const Tensor x = number(1), y = number(2), outside = number(3);
  mode.add_input(x, "x");
  mode.add_input(y, "y");
  ModeGuard guard(&mode);
  CHECK_THROWS_WITH(
      mode.trace_subgraph([&](const Tensors& in) { return Tensors{plus(in[0], y)}; }, {x}),
      "trace: the subgraph uses 'y' (float32[] on cpu) of the graph around it, which is not among "
      "its inputs");
  const Graph g =
      mode.trace_subgraph([&](const Tensors& in) { return Tensors{plus(in[0], outside)}; }, {x});
  CHECK(g.size() == 4);
  CHECK_THROWS_WITH(mode.add_input(x, "again"), Contains("known already, as 'x'"));
}

TEST_CASE("intermediate tensors do not live as long as the trace, and their addresses do not lie") {
  Ops ops;
  const Graph g = trace(
      [](const Tensors& in) {
        std::vector<WeakIntrusivePtr<TensorImpl>> seen;
        Tensor t = in[0];
        for (int i = 0; i < 200; ++i) {
          t = plus(t, in[0]);
          seen.emplace_back(t.impl());
        }
        int alive = 0;
        for (const auto& weak : seen) alive += !weak.expired();
        CHECK(alive == 1);
        // A fresh tensor, perhaps where one of those was, is unknown.
        return Tensors{plus(t, number(1))};
      },
      {number(1)});
  CHECK_THAT(g.to_string(), Contains("_tensor_constant0"));
  CHECK(value(g.run({number(2)})[0]) == 403);
}

}  // namespace
}  // namespace sb
