// Graphs and the traces that make them: what cannot be recorded, and what cannot be run.

#include "switchboard/dispatch/graph/graph.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/test_tensors.h"
#include "switchboard/tests/errors/message.h"

namespace sb {
namespace {

using Kind = Library::Kind;
using K = DispatchKey;

// demo::f(Tensor x, int n=1).
struct GraphErrors {
  GraphErrors() {
    m.impl("f", K::CPU, [](const Tensor& x, int64_t) { return x; });
  }

  Dispatcher d;
  Library m{d, Kind::Def, "demo"};
  OpOverload f{m.define("f(Tensor x, int n=1) -> Tensor")};
  Tensor cpu = tensor_on(DeviceType::CPU);
  Graph g;
};

TEST_CASE_METHOD(GraphErrors, "a node with an argument of the wrong type") {
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  CHECK(message([&] {
          g.call(f, {x, "one"});
        }) == "TypeError: demo::f: argument 1 'n': expected int, got str");
}

TEST_CASE_METHOD(GraphErrors,
                 "a node with too many arguments, a missing, an unknown or a double one") {
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  CHECK(message([&] {
          g.call(f, {x, 1, 2});
        }) == "TypeError: demo::f: got 3 positional arguments, the schema takes 2");
  CHECK(message([&] { g.call(f, {}); }) == "TypeError: demo::f: argument 0 'x' is missing");
  CHECK(message([&] { g.call(f, {x}, {{"m", 1}}); }) == "TypeError: demo::f: unknown argument 'm'");
  CHECK(message([&] {
          g.call(f, {x}, {{"x", x}});
        }) == "TypeError: demo::f: argument 0 'x' given twice");
}

TEST_CASE_METHOD(GraphErrors, "an input after other nodes") {
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  g.call(f, {x});
  CHECK(message([&] { g.placeholder("y", NodeMeta::of(cpu)); }) ==
        "RuntimeError: graph: placeholder 'y': expected before all other nodes, got after 'f'");
}

TEST_CASE_METHOD(GraphErrors, "a node after the output") {
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  g.output({x});
  CHECK(message([&] { g.call(f, {x}); }) ==
        "RuntimeError: graph: has its output already; got another node, 'f'");
}

TEST_CASE_METHOD(GraphErrors, "a null node") {
  CHECK(message([] { GraphArg(static_cast<Node*>(nullptr)); }) ==
        "ValueError: graph: a null node as argument");
}

TEST_CASE_METHOD(GraphErrors, "a graph that runs without an output") {
  g.placeholder("x", NodeMeta::of(cpu));
  CHECK(message([&] { g.run({cpu}); }) == "RuntimeError: graph: has no output");
}

TEST_CASE_METHOD(GraphErrors, "a graph that runs on too few inputs, or an undefined one") {
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  g.output({x});
  CHECK(message([&] { g.run({}); }) == "ValueError: graph: expected 1 inputs (x), got 0");
  CHECK(message([&] { g.run({Tensor()}); }) ==
        "TypeError: graph: input 0 'x': expected a tensor, got an undefined one");
}

TEST_CASE_METHOD(GraphErrors, "a graph whose operator was removed") {
  auto other = std::make_unique<Library>(d, Kind::Def, "other");
  const OpOverload gone(other->define("gone(Tensor x) -> Tensor"));
  Node* const x = g.placeholder("x", NodeMeta::of(cpu));
  g.output({g.call(gone, {x})});
  other.reset();
  const std::string expected = "graph: node 'gone': operator other::gone was removed";
  CHECK(message([&] { g.lint(); }) == "RuntimeError: " + expected);
  CHECK(message([&] { g.run({cpu}); }) == "NotImplementedError: " + expected);
}

TEST_CASE("a trace with an undefined input") {
  CHECK(message([] { trace([](const std::vector<Tensor>& in) { return in; }, {Tensor()}); }) ==
        "RuntimeError: trace: input 0 'arg0': expected a tensor, got an undefined one");
}

TEST_CASE_METHOD(GraphErrors, "a trace with more names than inputs") {
  const TraceOptions options{.input_names = {"x", "y"}};
  CHECK(message([&] { trace([](const std::vector<Tensor>& in) { return in; }, {cpu}, options); }) ==
        "ValueError: trace: got 2 input names and 1 inputs");
}

TEST_CASE_METHOD(GraphErrors, "a trace with the same input twice, added by hand") {
  TracingMode mode;
  mode.add_input(cpu, "x");
  CHECK(message([&] { mode.add_input(cpu, "y"); }) ==
        "RuntimeError: trace: input 1 'y': the tensor is known already, as 'x'");
}

TEST_CASE_METHOD(GraphErrors, "a trace of a number that depends on data, where that is refused") {
  const OpOverload item(m.define("item(Tensor x) -> int", TagSet(Tag::data_dependent_output)));
  m.impl("item", K::CPU, [](const Tensor&) { return int64_t{1}; });
  const TraceOptions options{.input_names = {"x"}};
  CHECK(message([&] {
          trace(
              [&](const std::vector<Tensor>& in) {
                item(in[0]);
                return in;
              },
              {cpu}, options);
        }) == "NotImplementedError: demo::item: the result depends on the data of 'x' (" +
                  cpu.describe() +
                  "), and would be burnt into the graph as a constant; "
                  "TraceOptions::refuse_data_dependent = false allows that");
  CHECK(mode_stack_size() == 0);
}

TEST_CASE_METHOD(GraphErrors, "a subgraph that uses a tensor of the graph around it") {
  TracingMode mode;
  mode.add_input(cpu, "x");
  const Tensor y = tensor_on(DeviceType::CPU);
  CHECK(message([&] {
          mode.trace_subgraph(
              [&](const std::vector<Tensor>&) { return f(cpu)[0].to_tensor(), std::vector{cpu}; },
              {y});
        }) == "RuntimeError: trace: the subgraph uses 'x' (" + cpu.describe() +
                  ") of the graph around it, which is not among its inputs");
}

}  // namespace
}  // namespace sb
