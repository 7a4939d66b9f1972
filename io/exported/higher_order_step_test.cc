// Regions and control flow of exported programs, on a graph made by hand.

#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/ops/autocast/autocast_policy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/views/cat.h"

namespace sb::io {
namespace {

using Catch::Contains;

Tensor number(float value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Float32);
  *tensor.data<float>() = value;
  return tensor;
}
Tensor truth(bool value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Bool);
  *tensor.data<bool>() = value;
  return tensor;
}
float value_of(const IValue& value) { return *value.to_tensor().data<float>(); }
Tensor row(const std::vector<float>& values) {
  const Tensor tensor = empty_on(DeviceType::CPU, {std::ssize(values)}, DType::Float32);
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}
std::vector<float> values_of(const IValue& value) {
  const Tensor& tensor = value.to_tensor();
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

// Operators on 0-dim tensors, in a dispatcher of their own.
class Demo {
 public:
  Demo() : library_(dispatcher, LibraryKind::Def, "demo") {
    library_.define("plus(Tensor self, int n) -> Tensor");
    library_.impl("plus", DispatchKey::CPU, [](const Tensor& self, int64_t n) {
      return number(*self.data<float>() + static_cast<float>(n));
    });
    library_.define("sum(Tensor self, Tensor other) -> Tensor");
    library_.impl("sum", DispatchKey::CPU, [](const Tensor& self, const Tensor& other) {
      return number(*self.data<float>() + *other.data<float>());
    });
    library_.define("under(Tensor self, int n) -> Tensor");
    library_.impl("under", DispatchKey::CPU, [](const Tensor& self, int64_t n) {
      return truth(*self.data<float>() < static_cast<float>(n));
    });
    library_.define("note(int n) -> ()");
    library_.impl("note", DispatchKey::CompositeExplicitAutograd,
                  [this](int64_t n) { notes.push_back(n); });
    library_.define("records(Tensor self) -> Tensor");
    library_.impl("records", DispatchKey::CPU,
                  [](const Tensor&) { return number(is_grad_enabled() ? 1 : 0); });
  }
  Dispatcher dispatcher;
  std::vector<int64_t> notes;

 private:
  Library library_;
};

Node call(const char* op, std::vector<NamedArgument> inputs, const char* output) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {TensorRef{output}};
  node.name = output;
  return node;
}
Node plus(const char* input, Argument n, const char* output) {
  return call("demo::plus", {{"self", TensorRef{input}}, {"n", std::move(n)}}, output);
}
GraphRef graph(const char* name, std::vector<Argument> inputs, std::vector<Node> nodes,
               Argument output) {
  auto graph = std::make_shared<Graph>();
  graph->place = std::string("net.pt2: ") + name;
  graph->inputs = std::move(inputs);
  graph->nodes = std::move(nodes);
  graph->outputs = {std::move(output)};
  return {name, graph};
}
Node higher_order(const char* op, std::vector<Argument> arguments) {
  Node node;
  node.kind = TargetKind::HigherOrder;
  node.op = op;
  for (Argument& argument : arguments) node.inputs.push_back({"", std::move(argument)});
  node.outputs = {TensorRef{"y"}};
  node.name = "hop";
  return node;
}
Program program(Node node, std::vector<Argument> inputs) {
  Program program;
  program.origin = "net.pt2";
  program.graph.place = "net.pt2: graph_module/graph";
  program.graph.inputs = inputs;
  program.graph.nodes = {std::move(node)};
  program.graph.outputs = {TensorRef{"y"}};
  for (const Argument& input : inputs) {
    InputSpec spec;
    spec.value = input;
    for_each_name(input, [&](const std::string& name) { spec.name = name; });
    program.inputs.push_back(std::move(spec));
  }
  program.outputs = {{OutputKind::User, TensorRef{"y"}, ""}};
  return program;
}
float run(const Program& program, const Demo& demo, std::vector<IValue> inputs) {
  return value_of(GraphRunner(program, demo.dispatcher).run(std::move(inputs), DeviceType::CPU)[0]);
}

// A loop that adds 2 to x as long as that is below 5.
Program loop_to_five(const char* op) {
  return program(
      higher_order(op,
                   {graph("cond", {TensorRef{"i"}},
                          {call("demo::under", {{"self", TensorRef{"i"}}, {"n", int64_t{5}}}, "t")},
                          TensorRef{"t"}),
                    graph("body", {TensorRef{"i"}}, {plus("i", int64_t{2}, "j")}, TensorRef{"j"}),
                    TensorRefs{{"x"}}, TensorRefs{}}),
      {TensorRef{"x"}});
}

TEST_CASE("cond runs the graph that its predicate chooses", "[io][higher_order]") {
  const Demo demo;
  const Program p = program(
      higher_order("higher_order::cond",
                   {TensorRef{"p"},
                    graph("yes", {TensorRef{"a"}}, {plus("a", int64_t{1}, "b")}, TensorRef{"b"}),
                    graph("no", {TensorRef{"a"}}, {plus("a", int64_t{10}, "b")}, TensorRef{"b"}),
                    TensorRefs{{"x"}}}),
      {TensorRef{"p"}, TensorRef{"x"}});
  CHECK(run(p, demo, {truth(true), number(2)}) == 3);
  CHECK(run(p, demo, {truth(false), number(2)}) == 12);
}

TEST_CASE("while_loop carries its tensors until the condition fails", "[io][higher_order]") {
  const Demo demo;
  const Program p = loop_to_five("higher_order::while_loop");
  CHECK(run(p, demo, {number(0)}) == 6);
}

TEST_CASE("the steps of a loop are stacked", "[io][higher_order]") {
  const Demo demo;
  const Program p = loop_to_five("higher_order::while_loop_stack_output");
  const Tensor steps =
      GraphRunner(p, demo.dispatcher).run({number(0)}, DeviceType::CPU)[0].to_tensor();
  REQUIRE(steps.numel() == 3);
  CHECK(steps.data<float>()[0] == 2);
  CHECK(steps.data<float>()[2] == 6);
}

TEST_CASE("map stacks what its graph gives for each slice", "[io][higher_order]") {
  const Demo demo;
  const Program p = program(
      higher_order(
          "higher_order::map_impl",
          {graph("body", {TensorRef{"a"}, TensorRef{"b"}},
                 {call("demo::sum", {{"self", TensorRef{"a"}}, {"other", TensorRef{"b"}}}, "c")},
                 TensorRef{"c"}),
           TensorRefs{{"xs"}}, TensorRefs{{"w"}}}),
      {TensorRef{"xs"}, TensorRef{"w"}});
  const GraphRunner runner(p, demo.dispatcher);
  CHECK(values_of(runner.run({row({1, 2, 3}), number(10)}, DeviceType::CPU)[0]) ==
        std::vector<float>{11, 12, 13});
}

TEST_CASE("scan carries a state from slice to slice, and stacks the rest", "[io][higher_order]") {
  const Demo demo;
  // (state, slice, k) -> (state + slice, state + slice + k)
  GraphRef combine =
      graph("combine", {TensorRef{"c"}, TensorRef{"a"}, TensorRef{"k"}},
            {call("demo::sum", {{"self", TensorRef{"c"}}, {"other", TensorRef{"a"}}}, "next"),
             call("demo::sum", {{"self", TensorRef{"next"}}, {"other", TensorRef{"k"}}}, "each")},
            TensorRef{"next"});
  auto both = std::make_shared<Graph>(*combine.graph);
  both->outputs = {TensorRef{"next"}, TensorRef{"each"}};
  combine.graph = both;
  Node node = higher_order("higher_order::scan",
                           {combine, TensorRefs{{"init"}}, TensorRefs{{"xs"}}, TensorRefs{{"k"}}});
  node.outputs = {TensorRef{"last"}, TensorRef{"y"}};
  Program p = program(node, {TensorRef{"init"}, TensorRef{"xs"}, TensorRef{"k"}});
  p.graph.outputs = {TensorRef{"last"}, TensorRef{"y"}};
  p.outputs = {{OutputKind::User, TensorRef{"last"}, ""}, {OutputKind::User, TensorRef{"y"}, ""}};
  const std::vector<IValue> results =
      GraphRunner(p, demo.dispatcher)
          .run({number(1), row({1, 2, 3}), number(100)}, DeviceType::CPU);
  CHECK(value_of(results[0]) == 7);
  CHECK(values_of(results[1]) == std::vector<float>{102, 104, 107});
}

TEST_CASE("out_dtype runs its operator in the dtype", "[io][higher_order]") {
  const auto with = [](const char* op) {
    return program(higher_order("higher_order::out_dtype",
                                {OperatorRef{op}, DType::Int32, TensorRef{"x"}, TensorRef{"x"}}),
                   {TensorRef{"x"}});
  };
  const Tensor x = empty_on(DeviceType::CPU, {1, 1}, DType::Int8);
  *x.data<int8_t>() = 100;
  const Program p = with("torch.ops.aten.mul.Tensor");
  const std::vector<IValue> results = GraphRunner(p).run({x}, DeviceType::CPU);
  CHECK(*results[0].to_tensor().data<int32_t>() == 10'000);
  const Program other = with("torch.ops.aten.add.Tensor");
  CHECK_THAT(error_of([&] { GraphRunner(other).run({x}, DeviceType::CPU); }),
             Contains("higher_order::out_dtype: op: expected one of ") &&
                 Contains("; got aten::add.Tensor"));
  const Program none = with("torch.add");
  CHECK_THAT(error_of([&] { GraphRunner runner(none); }),
             Contains("higher_order::out_dtype: 'torch.add' is no operator"));
}

// What a run prints on standard output; its result is checked.
std::string printed_by(const Program& p, const Demo& demo, Stack inputs, float expected) {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  const float result = run(p, demo, std::move(inputs));
  std::cout.rdbuf(before);
  CHECK(result == expected);
  return out.str();
}

TEST_CASE("a program prints when it runs", "[io][higher_order]") {
  const Demo demo;
  Node node = higher_order("higher_order::print",
                           {std::string("got {} and {}, of {total}"), TensorRef{"x"}, SymRef{"n"}});
  node.inputs.push_back({"total", int64_t{2}});
  node.outputs = {None()};
  Program p = program(node, {TensorRef{"x"}, SymRef{"n"}});
  p.graph.nodes.push_back(plus("x", int64_t{1}, "y"));
  CHECK(printed_by(p, demo, {number(2), int64_t{5}}, 3) == "got tensor(2.) and 5, of 2\n");
}

TEST_CASE("a decomposed program prints by a call with an effect", "[io][higher_order]") {
  const Demo demo;
  Node node = higher_order("higher_order::with_effects",
                           {TensorRef{"token"}, OperatorRef{"torch.ops.higher_order.print"},
                            std::string("got {}"), TensorRef{"x"}});
  node.outputs = {TokenRef{"next"}, None()};
  Program p = program(node, {TensorRef{"token"}, TensorRef{"x"}});
  p.inputs[0].kind = InputKind::Token;
  p.graph.nodes.push_back(plus("x", int64_t{1}, "y"));
  CHECK(printed_by(p, demo, {IValue(), number(2)}, 3) == "got tensor(2.)\n");
}

TEST_CASE("a region without gradients is one", "[io][higher_order]") {
  const Demo demo;
  const Program p = program(
      higher_order("higher_order::wrap_with_set_grad_enabled",
                   {false,
                    graph("region", {TensorRef{"a"}},
                          {call("demo::records", {{"self", TensorRef{"a"}}}, "b")}, TensorRef{"b"}),
                    TensorRef{"x"}}),
      {TensorRef{"x"}});
  CHECK(run(p, demo, {number(0)}) == 0);
  CHECK(is_grad_enabled());
}

TEST_CASE("a region calls its graph, with the numbers that it is given", "[io][higher_order]") {
  const Demo demo;
  const GraphRef body =
      graph("body", {TensorRef{"a"}, SymRef{"k"}}, {plus("a", SymRef{"k"}, "b")}, TensorRef{"b"});
  const auto check = [&](Node node) {
    const Program p = program(std::move(node), {TensorRef{"x"}, SymRef{"n"}});
    CHECK(run(p, demo, {number(2), int64_t{40}}) == 42);
  };
  const SymInts operands{SymRef{"x"}, SymRef{"n"}};
  check(higher_order("higher_order::strict_mode", {body, operands}));
  check(higher_order("higher_order::run_const_graph", {body, operands}));
  check(higher_order("higher_order::foreach_map", {body, TensorRef{"x"}, SymRef{"n"}}));
  check(higher_order("higher_order::invoke_subgraph",
                     {body, std::string("subgraph_0"), TensorRef{"x"}, SymRef{"n"}}));
  const auto dict = [](std::vector<NamedArgument> items) {
    return std::make_shared<const std::vector<NamedArgument>>(std::move(items));
  };
  Node hints = higher_order("higher_order::hints_wrapper", {body, operands, dict({})});
  hints.inputs.push_back({"hints", dict({{"level", int64_t{3}}, {"name", std::string("fast")}})});
  check(hints);
}

TEST_CASE("numbers reach the graphs as they are", "[io][higher_order]") {
  const Demo demo;
  const Program p = program(
      higher_order("higher_order::cond", {TensorRef{"p"},
                                          graph("yes", {TensorRef{"a"}, SymRef{"k"}},
                                                {plus("a", SymRef{"k"}, "b")}, TensorRef{"b"}),
                                          graph("no", {TensorRef{"a"}, SymRef{"k"}},
                                                {plus("a", int64_t{0}, "b")}, TensorRef{"b"}),
                                          TensorRefs{{"x"}}}),
      {TensorRef{"p"}, TensorRef{"x"}, SymRef{"n"}});
  // The exporter writes tensors and numbers in one list only where it can name them all.
  Program with_number = p;
  with_number.graph.nodes[0].inputs[3].value = SymInts{SymRef{"x"}, SymRef{"n"}};
  CHECK(run(with_number, demo, {truth(true), number(2), int64_t{40}}) == 42);
}

TEST_CASE("the graphs of a cond may give ints, and no others", "[io][higher_order]") {
  const Demo demo;
  const auto chooses = [](Argument yes, Argument no) {
    const auto branch = [](const char* name, Argument number) {
      GraphRef made = graph(name, {TensorRef{"a"}}, {plus("a", int64_t{1}, "b")}, TensorRef{"b"});
      auto with_number = std::make_shared<Graph>(*made.graph);
      with_number->outputs.push_back(std::move(number));
      made.graph = with_number;
      return made;
    };
    Node node =
        higher_order("higher_order::cond", {TensorRef{"p"}, branch("yes", std::move(yes)),
                                            branch("no", std::move(no)), TensorRefs{{"x"}}});
    node.outputs = {TensorRef{"y"}, SymRef{"k"}};
    Program p = program(std::move(node), {TensorRef{"p"}, TensorRef{"x"}});
    p.graph.nodes.push_back(plus("y", SymRef{"k"}, "z"));
    p.graph.outputs = {TensorRef{"z"}};
    p.outputs[0].arg = TensorRef{"z"};
    return p;
  };
  const Program p = chooses(int64_t{3}, int64_t{5});
  CHECK(run(p, demo, {truth(true), number(10)}) == 14);
  CHECK(run(p, demo, {truth(false), number(10)}) == 16);
  CHECK_THAT(error_of([&] { GraphRunner(chooses(0.5, 0.5), demo.dispatcher); }),
             Contains("higher_order::cond: a graph that gives a float is not supported"));
}

TEST_CASE("associative_scan calls its graph with two slices", "[io][higher_order]") {
  const Demo demo;
  const Program p = program(higher_order("higher_order::associative_scan",
                                         {graph("combine", {TensorRef{"a"}, TensorRef{"b"}},
                                                {plus("a", int64_t{1}, "c")}, TensorRef{"c"}),
                                          TensorRefs{{"x"}}, TensorRefs{}}),
                            {TensorRef{"x"}});
  const Tensor x = stack({number(5), number(0), number(0)});
  const Tensor y = GraphRunner(p, demo.dispatcher).run({x}, DeviceType::CPU)[0].to_tensor();
  CHECK(equal(y, stack({number(5), number(6), number(7)})));
}

TEST_CASE("a higher-order operator that is not here is named with its node", "[io][higher_order]") {
  const Demo demo;
  const Program p =
      program(higher_order("higher_order::flex_attention", {TensorRef{"x"}}), {TensorRef{"x"}});
  CHECK_THAT(error_of([&] { GraphRunner(p, demo.dispatcher); }),
             Contains("higher-order operator higher_order::flex_attention, 1 time, first at "
                      "net.pt2: graph_module/graph/nodes[0] (hop)"));
}

TEST_CASE("an autocast region of another device than the CPU is refused", "[io][higher_order]") {
  const Demo demo;
  const GraphRef region =
      graph("region", {TensorRef{"a"}}, {plus("a", int64_t{1}, "b")}, TensorRef{"b"});
  const auto with = [&](const char* device, bool enabled) {
    return program(
        higher_order("higher_order::wrap_with_autocast",
                     {std::string(device), DType::BFloat16, enabled, true, region, TensorRef{"x"}}),
        {TensorRef{"x"}});
  };
  // No operator of ours is one that autocast knows.
  CHECK(run(with("cpu", false), demo, {number(1)}) == 2);
  CHECK(run(with("cpu", true), demo, {number(1)}) == 2);
  const Program cuda = with("cuda", true);
  CHECK_THAT(error_of([&] { GraphRunner(cuda, demo.dispatcher); }),
             Contains("NotImplementedError") && Contains("autocast of 'cuda' is not supported"));
}

TEST_CASE("autocast has three policies, by operator", "[io][higher_order]") {
  CHECK(autocast_policy("aten::linear") == AutocastPolicy::LowerPrecision);
  CHECK(autocast_policy("aten::mse_loss") == AutocastPolicy::Float32);
  CHECK(autocast_policy("aten::cat") == AutocastPolicy::Promote);
  CHECK(autocast_policy("aten::add") == AutocastPolicy::None);
  CHECK(autocast_policy("demo::linear") == AutocastPolicy::None);
}

TEST_CASE("what a node names is what its graph gives, or an error", "[io][higher_order]") {
  const Demo demo;
  const auto region = [](std::vector<Argument> outputs) {
    GraphRef made = graph("region", {TensorRef{"a"}}, {plus("a", int64_t{1}, "b")}, TensorRef{"b"});
    auto changed = std::make_shared<Graph>(*made.graph);
    changed->outputs = std::move(outputs);
    made.graph = changed;
    return program(
        higher_order("higher_order::wrap_with_set_grad_enabled", {false, made, TensorRef{"x"}}),
        {TensorRef{"x"}});
  };
  const Program fewer = region({}), more = region({TensorRef{"b"}, TensorRef{"a"}}),
                list = region({TensorRefs{{"a"}, {"b"}}});
  CHECK_THAT(error_of([&] { run(fewer, demo, {number(1)}); }),
             Contains("gave 0 values, the node names 1"));
  CHECK_THAT(error_of([&] { run(more, demo, {number(1)}); }),
             Contains("gave 2 values, the node names 1"));
  CHECK_THAT(error_of([&] { run(list, demo, {number(1)}); }),
             Contains("an output that is a tensors is not supported"));
}

TEST_CASE("branches that give tensors at other places are refused", "[io][higher_order]") {
  const Demo demo;
  const auto branch = [](std::vector<Argument> outputs) {
    auto made = std::make_shared<Graph>();
    made->place = "net.pt2: branch";
    made->inputs = {TensorRef{"a"}};
    made->outputs = std::move(outputs);
    return GraphRef{"branch", made};
  };
  Node node =
      higher_order("higher_order::cond", {TensorRef{"p"}, branch({TensorRef{"a"}, None()}),
                                          branch({None(), TensorRef{"a"}}), TensorRefs{{"x"}}});
  node.outputs = {TensorRef{"y"}, None()};
  const Program p = program(node, {TensorRef{"p"}, TensorRef{"x"}});
  CHECK_THAT(error_of([&] { GraphRunner(p, demo.dispatcher); }),
             Contains("the graphs give other values, or tensors at other places"));
}

TEST_CASE("a call with an effect runs its operator", "[io][higher_order]") {
  const Demo demo;
  Node node = higher_order(
      "higher_order::with_effects",
      {TensorRef{"token"}, OperatorRef{"torch.ops.demo.plus.default"}, TensorRef{"x"}, int64_t{3}});
  node.outputs = {TokenRef{"next"}, TensorRef{"y"}};
  Program p = program(node, {TensorRef{"token"}, TensorRef{"x"}});
  p.inputs[0].kind = InputKind::Token;
  CHECK(run(p, demo, {IValue(), number(1)}) == 4);
  p.graph.nodes[0].inputs[1].value = OperatorRef{"torch.ops.demo.minus.default"};
  CHECK_THAT(error_of([&] { GraphRunner(p, demo.dispatcher); }),
             Contains("operator demo::minus, 1 time"));
}

TEST_CASE("effects come about in the order of the nodes, in functions too", "[io][higher_order]") {
  const Demo demo;
  const auto note = [](const char* token, int64_t n, const char* next) {
    Node node = higher_order("higher_order::with_effects",
                             {TensorRef{token}, OperatorRef{"torch.ops.demo.note.default"}, n});
    node.outputs = {TokenRef{next}, None()};
    return node;
  };
  const auto branch = [&](const char* name, int64_t n) {
    return graph(name, {TensorRef{"t"}, TensorRef{"a"}}, {note("t", n, "u"), plus("a", n, "b")},
                 TensorRef{"b"});
  };
  Node node = higher_order("higher_order::cond", {TensorRef{"p"}, branch("yes", 2), branch("no", 3),
                                                  TensorRefs{{"token"}, {"x"}}});
  Program p = program(node, {TensorRef{"token"}, TensorRef{"p"}, TensorRef{"x"}});
  p.inputs[0].kind = InputKind::Token;
  p.graph.nodes.insert(p.graph.nodes.begin(), note("token", 1, "t1"));
  p.graph.nodes.push_back(note("t1", 4, "t2"));
  CHECK(run(p, demo, {IValue(), truth(true), number(1)}) == 3);
  CHECK(run(p, demo, {IValue(), truth(false), number(1)}) == 4);
  CHECK(demo.notes == std::vector<int64_t>{1, 2, 4, 1, 3, 4});
}

NamedArgument named(const char* name, Argument value) { return {name, std::move(value)}; }

TEST_CASE("an operator that writes gives what it would write", "[io][higher_order]") {
  Library library(Library::Kind::Def, "demo");
  library.define("add_to(Tensor(a!) x, Tensor y, int n) -> ()");
  library.impl("add_to", DispatchKey::CPU, [](const Tensor& x, const Tensor& y, int64_t n) {
    *x.data<float>() += *y.data<float>() * static_cast<float>(n);
  });
  library.define("add_each(Tensor(a!)[] xs, int n) -> Tensor");
  library.impl("add_each", DispatchKey::CPU, [](TensorList xs, int64_t n) {
    for (const Tensor& x : xs) *x.data<float>() += static_cast<float>(n);
    return number(-1);
  });
  const auto run_on = [](const Program& p, Tensor x, Tensor y) {
    const float result = value_of(GraphRunner(p).run({x, y, int64_t{4}}, DeviceType::CPU)[0]);
    CHECK(value_of(x) == 2);
    return result;
  };
  const std::vector<Argument> inputs{TensorRef{"x"}, TensorRef{"y"}, SymRef{"n"}};
  Node node = higher_order("higher_order::auto_functionalized_v2",
                           {OperatorRef{"torch.ops.demo.add_to.default"}});
  node.inputs.push_back(named("y", TensorRef{"y"}));
  node.inputs.push_back(named("n", SymRef{"n"}));
  node.inputs.push_back(named("_x_base_index", int64_t{0}));
  node.inputs.push_back(named("_x_size", std::vector<int64_t>{}));
  node.inputs.push_back(named("_x_stride", std::vector<int64_t>{}));
  node.inputs.push_back(named("_x_storage_offset", int64_t{0}));
  node.inputs.push_back(named("_all_bases", TensorRefs{{"x"}}));
  node.outputs = {None(), TensorRef{"y2"}};
  Program p = program(node, inputs);
  p.graph.outputs = {TensorRef{"y2"}};
  p.outputs = {{OutputKind::User, TensorRef{"y2"}, ""}};
  CHECK(run_on(p, number(2), number(3)) == 14);

  node = higher_order("higher_order::auto_functionalized",
                      {OperatorRef{"torch.ops.demo.add_each.default"}});
  node.inputs.push_back(named("xs", TensorRefs{{"y"}, {"x"}}));
  node.inputs.push_back(named("n", SymRef{"n"}));
  node.outputs = {TensorRef{"r"}, TensorRefs{{"new_y"}, {"y2"}}};
  p.graph.nodes = {node};
  CHECK(run_on(p, number(2), number(3)) == 6);

  p.graph.nodes[0].inputs[0].value = OperatorRef{"torch.ops.demo.gone.default"};
  CHECK_THAT(error_of([&] { GraphRunner runner(p); }), Contains("operator demo::gone, 1 time"));
}

}  // namespace
}  // namespace sb::io
