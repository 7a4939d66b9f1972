// Regions and control flow of exported programs, on a graph made by hand.

#include "catch2/catch.hpp"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/io/exported/program_by_hand.h"
#include "switchboard/io/exported/test_support.h"
#include "switchboard/ops/autocast/autocast_policy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/views/cat.h"

namespace sb::io::by_hand {
namespace {

using Catch::Contains;

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

}  // namespace
}  // namespace sb::io::by_hand
