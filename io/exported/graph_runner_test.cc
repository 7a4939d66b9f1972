#include "switchboard/io/exported/graph_runner.h"

#include <map>
#include <set>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace sb::io {
namespace {

using Catch::Contains;
using Catch::EndsWith;

Tensor number(float value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Float32);
  *tensor.data<float>() = value;
  return tensor;
}

float value_of(const Tensor& tensor) { return *tensor.data<float>(); }
float value_of(const IValue& value) { return value_of(value.to_tensor()); }

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (b.dtype() == DType::Int64) CHECK(b.impl()->is_wrapped_number());
  const float right =
      b.dtype() == DType::Int64 ? static_cast<float>(*b.data<int64_t>()) : value_of(b);
  return number(value_of(a) + right * alpha.to<float>());
}

// A dispatcher of its own, with a few operators on 0-dim tensors.
class Demo {
 public:
  Demo() : library_(dispatcher, LibraryKind::Def, "demo") {
    library_.define("add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
    library_.impl("add", DispatchKey::CPU, &add);
    library_.define("halves(Tensor self) -> Tensor[]");
    library_.impl("halves", DispatchKey::CPU, [](const Tensor& self) {
      return std::vector<Tensor>{number(value_of(self) / 2), number(value_of(self) / 2)};
    });
    library_.define("sum(Tensor?[] all) -> Tensor");
    library_.impl("sum", DispatchKey::CompositeExplicitAutograd, [](OptionalTensorList all) {
      float sum = 0;
      for (const auto& t : all) sum += t ? value_of(*t) : 0;
      return number(sum);
    });
    library_.define("length(int[] list) -> Tensor");
    library_.impl("length", DispatchKey::CompositeImplicitAutograd,
                  [](IntArrayRef list) { return number(static_cast<float>(list.size())); });
    library_.define("device_type(*, Device? device=None) -> Tensor");
    library_.impl("device_type", DispatchKey::CompositeImplicitAutograd,
                  [](std::optional<Device> device) {
                    return number(device ? static_cast<float>(device->type) : -1);
                  });
  }

  Dispatcher dispatcher;

 private:
  Library library_;
};

Node node(std::string op, std::vector<NamedArgument> inputs, Argument output) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.name = "n";
  node.outputs = {std::move(output)};
  return node;
}

Program program(std::vector<Node> nodes, std::vector<std::string> outputs) {
  Program program;
  program.origin = "net.pt2";
  program.inputs = {{InputKind::User, "x", "", false, TensorRef{"x"}}};
  program.graph.place = "net.pt2: graph_module/graph";
  program.graph.inputs = {TensorRef{"x"}};
  program.graph.nodes = std::move(nodes);
  for (const std::string& name : outputs) {
    program.graph.outputs.push_back(TensorRef{name});
    program.outputs.push_back({OutputKind::User, TensorRef{name}, ""});
  }
  return program;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return str_cat(error.kind(), ": ", error.what());
  }
  return "nothing";
}

// Of making a runner, before a run.
std::string error_before(const Program& program, const Dispatcher& dispatcher) {
  return error_of([&] { GraphRunner(program, dispatcher); });
}

TEST_CASE("nodes run in order, bound by name", "[tools][graph_runner]") {
  const Demo demo;
  const Program p = program(
      {node("demo::add",
            {{"other", TensorRef{"x"}}, {"self", TensorRef{"x"}}, {"alpha", int64_t{2}}},
            TensorRef{"a"}),
       node("demo::add", {{"self", TensorRef{"a"}}, {"other", TensorRef{"x"}}}, TensorRef{"b"})},
      {"b", "x"});
  const auto outputs = GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU);
  REQUIRE(outputs.size() == 2);
  CHECK(value_of(outputs[0]) == 12);
  CHECK(value_of(outputs[1]) == 3);
}

TEST_CASE("a number where the schema says Tensor becomes a wrapped number",
          "[tools][graph_runner]") {
  const Demo demo;
  const Program p = program(
      {node("demo::add", {{"self", TensorRef{"x"}}, {"other", int64_t{4}}}, TensorRef{"a"})},
      {"a"});
  CHECK(value_of(GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU)[0]) == 7);
}

TEST_CASE("lists of tensors go in and come out", "[tools][graph_runner]") {
  const Demo demo;
  const Program p =
      program({node("demo::halves", {{"self", TensorRef{"x"}}}, TensorRefs{{"h0"}, {"h1"}}),
               node("demo::sum", {{"all", OptionalTensorRefs{TensorRef{"h0"}, std::nullopt}}},
                    TensorRef{"s"}),
               node("demo::sum", {{"all", TensorRefs{{"s"}, {"h1"}}}}, TensorRef{"t"}),
               node("demo::sum", {{"all", std::vector<int64_t>()}}, TensorRef{"zero"})},
              {"s", "t", "zero"});
  const auto outputs = GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU);
  CHECK(value_of(outputs[0]) == 1.5);
  CHECK(value_of(outputs[1]) == 3);
  CHECK(value_of(outputs[2]) == 0);
}

TEST_CASE("an empty list is one of whatever the schema says", "[tools][graph_runner]") {
  const Demo demo;
  for (const Argument& empty :
       {Argument(TensorRefs()), Argument(OptionalTensorRefs()), Argument(std::vector<double>())}) {
    const Program p = program({node("demo::length", {{"list", empty}}, TensorRef{"n"})}, {"n"});
    CHECK(value_of(GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU)[0]) == 0);
  }
}

TEST_CASE("devices of the program become the device of the run", "[tools][graph_runner]") {
  const Demo demo;
  const Node given =
      node("demo::device_type", {{"device", Device(DeviceType::CPU)}}, TensorRef{"d"});
  const Node absent = node("demo::device_type", {}, TensorRef{"d"});
  for (const Node& n : {given, absent}) {
    const Program p = program({n}, {"d"});
    const auto outputs = GraphRunner(p, demo.dispatcher).run({number(0)}, Device("cuda:0"));
    CHECK(value_of(outputs[0]) == static_cast<float>(DeviceType::CUDA));
  }
}

TEST_CASE("a value lives no longer than its last use", "[tools][graph_runner]") {
  const Demo demo;
  const auto add_to = [](const char* from, const char* to) {
    return node("demo::add", {{"self", TensorRef{from}}, {"other", TensorRef{from}}},
                TensorRef{to});
  };
  const Program p =
      program({add_to("x", "a"), add_to("a", "unused"), add_to("a", "b"), add_to("b", "c")}, {"c"});

  struct Watch : RunObserver {
    void on_node(const Graph&, size_t node) override {
      std::set<std::string> alive;
      for (const auto& [name, tensor] : values)
        if (tensor.lock()) alive.insert(name);
      at_node[node] = alive;
    }
    void on_value(const Graph&, size_t, const std::string& name, const IValue& value) override {
      values.emplace(name, WeakIntrusivePtr<TensorImpl>(
                               IntrusivePtr<TensorImpl>::share(value.to_tensor().impl())));
    }
    std::map<std::string, WeakIntrusivePtr<TensorImpl>> values;
    std::map<size_t, std::set<std::string>> at_node;
  } watch;
  GraphRunner(p, demo.dispatcher).run({number(1)}, DeviceType::CPU, &watch);
  CHECK(watch.at_node[1] == std::set<std::string>{"a"});
  CHECK(watch.at_node[2] == std::set<std::string>{"a"});
  CHECK(watch.at_node[3] == std::set<std::string>{"b"});
}

TEST_CASE("a program that does not fit fails before it runs", "[tools][graph_runner]") {
  const Demo demo;
  const NamedArgument self{"self", TensorRef{"x"}}, other{"other", TensorRef{"x"}};
  const TensorRef y{"y"};
  const auto error = [&](Node n) {
    return error_before(program({std::move(n)}, {"y"}), demo.dispatcher);
  };
  const std::string place = "net.pt2: graph_module/graph/nodes[0] (n): ";

  Node other_overload = node("demo::add", {self}, TensorRef{"b"});
  other_overload.overload = "out";
  CHECK_THAT(error_before(program({node("demo::one", {self}, TensorRef{"a"}), other_overload,
                                   node("demo::one", {self}, y)},
                                  {"y"}),
                          demo.dispatcher),
             Contains("NotImplementedError: net.pt2: what this program needs is not all here:") &&
                 Contains("operator demo::one, 2 times, first at net.pt2: "
                          "graph_module/graph/nodes[0] (n): load the library that defines it") &&
                 Contains("overload demo::add.out, 1 time, first at"));
  CHECK_THAT(error(node("demo::add", {self, other, {"beta", int64_t{1}}}, y)),
             Contains("TypeError: " + place + "demo::add: no argument 'beta'"));
  CHECK_THAT(error(node("demo::add", {self}, y)), Contains("argument 'other' is missing"));
  CHECK_THAT(error(node("demo::add", {self, {"other", std::string("x")}}, y)),
             Contains(place + "demo::add: argument 1 'other': expected Tensor, got str"));
  CHECK_THAT(error(node("demo::halves", {self}, y)),
             Contains("output 0: the schema returns Tensor[], the node names a tensor"));
  Node two = node("demo::add", {self, other}, y);
  two.outputs.push_back(TensorRef{"z"});
  CHECK_THAT(error(two), Contains("the node names 2 outputs, the schema has 1"));
}

TEST_CASE("errors of a run name the node", "[tools][graph_runner]") {
  const Demo demo;
  const Program p =
      program({node("demo::halves", {{"self", TensorRef{"x"}}}, TensorRefs{{"y"}})}, {"y"});
  const GraphRunner runner(p, demo.dispatcher);
  CHECK_THAT(error_of([&] { runner.run({number(3)}, DeviceType::CPU); }),
             Contains("net.pt2: graph_module/graph/nodes[0] (n): demo::halves") &&
                 Contains("returned 2 tensors, the node names 1"));
}

TEST_CASE("a runner runs again, on what it is given then", "[tools][graph_runner]") {
  const Demo demo;
  const TensorRef x{"x"}, h{"h0"};
  const Program p = program(
      {node("demo::halves", {{"self", x}}, TensorRefs{{"h0"}, {"h1"}}),
       node("demo::sum", {{"all", OptionalTensorRefs{h, std::nullopt, x}}}, TensorRef{"s"}),
       node("demo::add", {{"self", TensorRef{"s"}}, {"other", int64_t{1}}}, TensorRef{"y"})},
      {"y"});
  const GraphRunner runner(p, demo.dispatcher);
  for (const float given : {2.f, 8.f})
    CHECK(value_of(runner.run({number(given)}, DeviceType::CPU)[0]) == 1.5f * given + 1);
}

TEST_CASE("a mutation of what is no input is refused", "[tools][graph_runner]") {
  const Demo demo;
  Program p = program({}, {});
  p.graph.outputs = {TensorRef{"x"}};
  p.outputs = {{OutputKind::BufferMutation, TensorRef{"x"}, "mean"}};
  CHECK_THAT(error_before(p, demo.dispatcher),
             Contains("ValueError: net.pt2") && Contains("'mean'"));
}

}  // namespace
}  // namespace sb::io
