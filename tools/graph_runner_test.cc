#include "switchboard/tools/graph_runner.h"

#include <map>
#include <set>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"

namespace sb::tools {
namespace {

using Catch::Contains;
using Catch::EndsWith;

Tensor number(float value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Float32);
  *tensor.data<float>() = value;
  return tensor;
}

float value_of(const Tensor& tensor) { return *tensor.data<float>(); }

Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha) {
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

io::Node node(std::string op, std::vector<io::NamedArgument> inputs, io::NodeOutput output) {
  io::Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.name = "n";
  node.outputs = {std::move(output)};
  return node;
}

io::Program program(std::vector<io::Node> nodes, std::vector<std::string> outputs) {
  io::Program program;
  program.origin = "net.pt2";
  program.inputs = {{io::InputKind::User, "x", "", false, {}}};
  program.nodes = std::move(nodes);
  for (const std::string& name : outputs)
    program.outputs.push_back({io::OutputKind::User, io::TensorRef{name}, ""});
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
std::string error_before(const io::Program& program, const Dispatcher& dispatcher) {
  return error_of([&] { GraphRunner(program, dispatcher); });
}

TEST_CASE("nodes run in order, bound by name", "[tools][graph_runner]") {
  const Demo demo;
  const io::Program p = program(
      {node("demo::add",
            {{"other", io::TensorRef{"x"}}, {"self", io::TensorRef{"x"}}, {"alpha", int64_t{2}}},
            io::TensorRef{"a"}),
       node("demo::add", {{"self", io::TensorRef{"a"}}, {"other", io::TensorRef{"x"}}},
            io::TensorRef{"b"})},
      {"b", "x"});
  const auto outputs = GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU);
  REQUIRE(outputs.size() == 2);
  CHECK(value_of(outputs[0]) == 12);
  CHECK(value_of(outputs[1]) == 3);
}

TEST_CASE("a number where the schema says Tensor becomes a wrapped number",
          "[tools][graph_runner]") {
  const Demo demo;
  const io::Program p =
      program({node("demo::add", {{"self", io::TensorRef{"x"}}, {"other", int64_t{4}}},
                    io::TensorRef{"a"})},
              {"a"});
  CHECK(value_of(GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU)[0]) == 7);
  const NodeCall call(p.nodes[0], demo.dispatcher.find_op_or_throw("demo::add"), {{"x", 0}});
  const Stack stack = call.arguments({number(3)}, DeviceType::CPU);
  CHECK(stack[1].to_tensor().impl()->is_wrapped_number());
  CHECK(stack[1].to_tensor().dtype() == DType::Int64);
  CHECK(stack[2].to_int() == 1);
}

TEST_CASE("lists of tensors go in and come out", "[tools][graph_runner]") {
  const Demo demo;
  const io::Program p = program(
      {node("demo::halves", {{"self", io::TensorRef{"x"}}}, io::TensorRefs{{"h0"}, {"h1"}}),
       node("demo::sum", {{"all", io::OptionalTensorRefs{io::TensorRef{"h0"}, std::nullopt}}},
            io::TensorRef{"s"}),
       node("demo::sum", {{"all", io::TensorRefs{{"s"}, {"h1"}}}}, io::TensorRef{"t"}),
       node("demo::sum", {{"all", std::vector<int64_t>()}}, io::TensorRef{"zero"})},
      {"s", "t", "zero"});
  const auto outputs = GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU);
  CHECK(value_of(outputs[0]) == 1.5);
  CHECK(value_of(outputs[1]) == 3);
  CHECK(value_of(outputs[2]) == 0);
}

TEST_CASE("an empty list is one of whatever the schema says", "[tools][graph_runner]") {
  const Demo demo;
  for (const io::Argument& empty :
       {io::Argument(io::TensorRefs()), io::Argument(io::OptionalTensorRefs()),
        io::Argument(std::vector<double>())}) {
    const io::Program p =
        program({node("demo::length", {{"list", empty}}, io::TensorRef{"n"})}, {"n"});
    CHECK(value_of(GraphRunner(p, demo.dispatcher).run({number(3)}, DeviceType::CPU)[0]) == 0);
  }
}

TEST_CASE("devices of the program become the device of the run", "[tools][graph_runner]") {
  const Demo demo;
  const OperatorHandle op = demo.dispatcher.find_op_or_throw("demo::device_type");
  const io::Node given =
      node("demo::device_type", {{"device", Device(DeviceType::CPU)}}, io::TensorRef{"d"});
  const io::Node absent = node("demo::device_type", {}, io::TensorRef{"d"});
  for (const io::Node& n : {given, absent})
    CHECK(NodeCall(n, op, {}).arguments({}, Device("cuda:0"))[0].to_device() == Device("cuda:0"));
}

TEST_CASE("a value lives no longer than its last use", "[tools][graph_runner]") {
  const Demo demo;
  const auto add_to = [](const char* from, const char* to) {
    return node("demo::add", {{"self", io::TensorRef{from}}, {"other", io::TensorRef{from}}},
                io::TensorRef{to});
  };
  const io::Program p =
      program({add_to("x", "a"), add_to("a", "unused"), add_to("a", "b"), add_to("b", "c")}, {"c"});

  struct Watch : RunObserver {
    void on_node(size_t node) override {
      std::set<std::string> alive;
      for (const auto& [name, tensor] : values)
        if (tensor.lock()) alive.insert(name);
      at_node[node] = alive;
    }
    void on_value(size_t, const std::string& name, const Tensor& tensor) override {
      values.emplace(name,
                     WeakIntrusivePtr<TensorImpl>(IntrusivePtr<TensorImpl>::share(tensor.impl())));
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
  const io::NamedArgument self{"self", io::TensorRef{"x"}}, other{"other", io::TensorRef{"x"}};
  const io::TensorRef y{"y"};
  const auto error = [&](io::Node n) {
    return error_before(program({std::move(n)}, {"y"}), demo.dispatcher);
  };
  const std::string place = "net.pt2: graph_module/graph/nodes[0] (n): ";

  CHECK_THAT(error(node("demo::subtract", {self, other}, y)),
             Contains("RuntimeError: " + place) && Contains("demo::subtract"));
  CHECK_THAT(error_before(program({node("demo::one", {self}, y), node("demo::two", {self}, y),
                                   node("demo::one", {self}, y), node("demo::three", {self}, y)},
                                  {"y"}),
                          demo.dispatcher),
             Contains(place + "demo::one") && EndsWith("; also unknown: demo::two, demo::three"));
  CHECK_THAT(error(node("demo::add", {self, other, {"beta", int64_t{1}}}, y)),
             Contains("TypeError: " + place + "demo::add: no argument 'beta'"));
  CHECK_THAT(error(node("demo::add", {self}, y)), Contains("argument 'other' is missing"));
  CHECK_THAT(error(node("demo::add", {self, {"other", std::string("x")}}, y)),
             Contains(place + "demo::add: argument 1 'other': expected Tensor, got str"));
  CHECK_THAT(error(node("demo::halves", {self}, y)),
             Contains("output 0: the schema returns Tensor[], the node names a tensor"));
  io::Node two = node("demo::add", {self, other}, y);
  two.outputs.push_back(io::TensorRef{"z"});
  CHECK_THAT(error(two), Contains("the node names 2 outputs, the schema has 1"));
}

TEST_CASE("errors of a run name the node", "[tools][graph_runner]") {
  const Demo demo;
  const io::Program p =
      program({node("demo::halves", {{"self", io::TensorRef{"x"}}}, io::TensorRefs{{"y"}})}, {"y"});
  const GraphRunner runner(p, demo.dispatcher);
  CHECK_THAT(error_of([&] { runner.run({number(3)}, DeviceType::CPU); }),
             Contains("net.pt2: graph_module/graph/nodes[0] (n): demo::halves") &&
                 Contains("returned 2 tensors, the node names 1"));
}

TEST_CASE("a runner runs again, on what it is given then", "[tools][graph_runner]") {
  const Demo demo;
  const io::TensorRef x{"x"}, h{"h0"};
  const io::Program p = program(
      {node("demo::halves", {{"self", x}}, io::TensorRefs{{"h0"}, {"h1"}}),
       node("demo::sum", {{"all", io::OptionalTensorRefs{h, std::nullopt, x}}}, io::TensorRef{"s"}),
       node("demo::add", {{"self", io::TensorRef{"s"}}, {"other", int64_t{1}}},
            io::TensorRef{"y"})},
      {"y"});
  const GraphRunner runner(p, demo.dispatcher);
  for (const float given : {2.f, 8.f})
    CHECK(value_of(runner.run({number(given)}, DeviceType::CPU)[0]) == 1.5f * given + 1);
}

TEST_CASE("a mutation of what is no input is refused", "[tools][graph_runner]") {
  const Demo demo;
  io::Program p = program({}, {});
  p.outputs = {{io::OutputKind::BufferMutation, io::TensorRef{"x"}, "mean"}};
  CHECK_THAT(error_before(p, demo.dispatcher),
             Contains("ValueError: net.pt2") && Contains("'mean'"));
}

}  // namespace
}  // namespace sb::tools
