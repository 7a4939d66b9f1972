// Higher-order operators of exported programs that take an operator, on a graph made by hand.

#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/dispatch/library.h"
#include "switchboard/io/exported/program_by_hand.h"
#include "switchboard/io/exported/test_support.h"

namespace sb::io::by_hand {
namespace {

using Catch::Contains;

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
}  // namespace sb::io::by_hand
