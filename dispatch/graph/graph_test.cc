#include "switchboard/dispatch/graph/graph.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;

Tensor number(float v) {
  const Tensor t = empty_on(DeviceType::CPU, {}, DType::Float32);
  *t.data<float>() = v;
  return t;
}
float value(const Tensor& t) { return *t.data<float>(); }

// A few operators on single numbers, in a dispatcher of the test's own.
struct World {
  World() : library(dispatcher, Library::Kind::Def, "g") {
    library.define("add(Tensor x, Tensor y, float beta=0., *, int alpha=1) -> Tensor");
    library.impl(
        "add", DispatchKey::CPU, [](const Tensor& x, const Tensor& y, double beta, int64_t alpha) {
          return number(value(x) + static_cast<float>(alpha) * value(y) + static_cast<float>(beta));
        });
    library.define("inc_(Tensor(a!) x) -> Tensor(a!)");
    library.impl("inc_", DispatchKey::CPU, [](const Tensor& x) {
      *x.data<float>() += 1;
      return x;
    });
    library.define("sum(Tensor[] xs) -> Tensor");
    library.impl("sum", DispatchKey::CPU, [](TensorList xs) {
      float sum = 0;
      for (const Tensor& x : xs) sum += value(x);
      return number(sum);
    });
    library.define("pair(Tensor x) -> (Tensor, Tensor)");
    library.impl("pair", DispatchKey::CPU, [](const Tensor& x) {
      return std::make_tuple(number(value(x) + 1), number(value(x) + 2));
    });
    library.define("twins(Tensor x) -> Tensor[]");
    library.impl("twins", DispatchKey::CPU, [](const Tensor& x) {
      return std::vector<Tensor>{number(value(x)), number(-value(x))};
    });
    library.define("present(Tensor?[] xs) -> int");
    library.impl("present", DispatchKey::CPU, [](OptionalTensorList xs) {
      int64_t n = 0;
      for (const std::optional<Tensor>& x : xs) n += x.has_value();
      return n;
    });
    library.define("print(Tensor x) -> ()");
    library.impl("print", DispatchKey::CPU, [](const Tensor&) {});
    library.define("draw(Tensor x) -> Tensor", Tag::nondeterministic_seeded);
    library.impl("draw", DispatchKey::CPU, [](const Tensor& x) { return number(value(x)); });
    library.define("fail(Tensor x) -> Tensor");
    library.impl("fail", DispatchKey::CPU,
                 [](const Tensor&) -> Tensor { throw ValueError("no such value"); });
  }
  OperatorHandle op(std::string_view name) { return dispatcher.find_op_or_throw(name); }

  Dispatcher dispatcher;
  Library library;
};

NodeMeta scalar_meta() { return NodeMeta::of(number(0)); }

TEST_CASE("a graph prints as code, without default arguments") {
  World w;
  Graph g;
  Node* x = g.placeholder("x", NodeMeta::of(tensor_on(DeviceType::CPU)));
  Node* y = g.placeholder("y", NodeMeta::of(tensor_on(DeviceType::Meta)));
  Node* z = g.placeholder("z");
  Node* a = g.call(w.op("g::add"), {x, y});
  Node* b = g.call(w.op("g::add"), {a, z}, {{"alpha", 2}});
  Node* c = g.call(w.op("g::add"), {a, b, 0.5});
  Node* p = g.call(w.op("g::pair"), {c});
  Node* p1 = g.get_item(p, 1);
  Node* s = g.call(w.op("g::sum"), {std::vector<GraphArg>{a, p1}});
  g.call(w.op("g::print"), {s});
  g.output({s, b});
  g.lint();
  CHECK(g.to_string() ==
        "graph(x: float32[1], y: float32[1] on meta, z):\n"
        "  add = g::add(x, y)\n"
        "  add_1 = g::add(add, z, alpha=2)\n"
        "  add_2 = g::add(add, add_1, 0.5)\n"
        "  pair = g::pair(add_2)\n"
        "  getitem = pair[1]\n"
        "  sum = g::sum([add, getitem])\n"
        "  g::print(sum)  # token 1\n"
        "  return (sum, add_1)\n");
}

TEST_CASE("names are identifiers, unique, and no words of the printed form") {
  World w;
  Graph g;
  CHECK(g.placeholder("x")->name() == "x");
  CHECK(g.placeholder("x")->name() == "x_1");
  CHECK(g.placeholder("x_1")->name() == "x_1_1");
  CHECK(g.placeholder("x")->name() == "x_2");
  CHECK(g.placeholder("2 b")->name() == "_2_b");
  CHECK(g.placeholder("")->name() == "_");
  CHECK(g.placeholder("return")->name() == "return_value");
  CHECK(g.placeholder("add")->name() == "add");
  CHECK(g.call(w.op("g::add"), {g.at(0), g.at(1)})->name() == "add_1");
}

TEST_CASE("running a graph gives what the calls give") {
  World w;
  Graph g;
  Node* x = g.placeholder("x", scalar_meta());
  Node* y = g.placeholder("y", scalar_meta());
  Node* a = g.call(w.op("g::add"), {x, y}, {{"alpha", 10}});
  Node* p = g.call(w.op("g::pair"), {a});
  Node* t = g.call(w.op("g::twins"), {y});
  g.output({a, g.get_item(p, 0), g.get_item(p, 1), g.get_item(t, 1), x});
  const Tensor in = number(1);
  const std::vector<Tensor> out = g.run({in, number(2)});
  REQUIRE(out.size() == 5);
  CHECK(value(out[0]) == 21);
  CHECK(value(out[1]) == 22);
  CHECK(value(out[2]) == 23);
  CHECK(value(out[3]) == -2);
  CHECK(out[4].is_same(in));
}

TEST_CASE("lists of tensors, and of tensors that may be absent, are built for the operator") {
  World w;
  Graph g;
  Node* x = g.placeholder("x");
  Node* n = g.call(w.op("g::present"), {std::vector<GraphArg>{x, IValue(), x}});
  Node* s = g.call(w.op("g::sum"), {std::vector<GraphArg>{x, x, x}});
  g.output({n, s});
  const std::vector<IValue> out = g.run_values({number(4)});
  CHECK(out[0].to_int() == 2);
  CHECK(value(out[1].to_tensor()) == 12);
  CHECK_THROWS_WITH(g.run({number(4)}), "graph: result 0: expected a tensor, got Int");
}

TEST_CASE("a value goes after its last use") {
  World w;
  std::vector<WeakIntrusivePtr<TensorImpl>> seen;
  std::vector<int> alive;
  w.library.define("watch(Tensor x) -> Tensor");
  w.library.impl("watch", DispatchKey::CPU, [&](const Tensor& x) {
    int n = 0;
    for (const auto& weak : seen) n += !weak.expired();
    alive.push_back(n);
    const Tensor fresh = number(value(x) + 1);
    seen.emplace_back(fresh.impl());
    return fresh;
  });
  Graph g;
  Node* v = g.placeholder("x");
  for (int i = 0; i < 5; ++i) v = g.call(w.op("g::watch"), {v});
  g.output({v});
  CHECK(value(g.run({number(0)})[0]) == 5);
  CHECK(alive == std::vector<int>{0, 1, 1, 1, 1});
}

TEST_CASE("inputs are checked before anything runs") {
  World w;
  Graph g;
  Node* x = g.placeholder("x", scalar_meta());
  g.placeholder("flag");
  g.output({g.call(w.op("g::inc_"), {x})});
  const Tensor t = number(1);
  CHECK_THROWS_AS(g.run({t}), ValueError);
  CHECK_THROWS_WITH(g.run({t}), "graph: expected 2 inputs (x, flag), got 1");
  CHECK_THROWS_AS(g.run_values({3, 4}), TypeError);
  CHECK_THROWS_WITH(g.run_values({3, 4}), "graph: input 0 'x': expected a tensor, got Int");
  CHECK_THROWS_WITH(g.run({Tensor(), t}), Contains("expected a tensor, got an undefined one"));
  CHECK(value(t) == 1);
  CHECK(value(g.run_values({t, "anything"})[0].to_tensor()) == 2);
}

TEST_CASE("an error of an operator names the node and the operator, and keeps its kind") {
  World w;
  Graph g;
  Node* f = g.call(w.op("g::fail"), {g.placeholder("x")});
  g.output({f});
  CHECK_THROWS_AS(g.run({number(0)}), ValueError);
  CHECK_THROWS_WITH(g.run({number(0)}), "graph: node 'fail': g::fail: no such value");
}

TEST_CASE("a builder's arguments are checked against the schema") {
  World w;
  Graph g;
  Node* x = g.placeholder("x");
  const OperatorHandle add = w.op("g::add");
  CHECK_THROWS_WITH(g.call(add, {x}), "g::add: argument 1 'y' is missing");
  CHECK_THROWS_WITH(g.call(add, {x, 3}), "g::add: argument 1 'y': expected Tensor, got int");
  CHECK_THROWS_WITH(g.call(add, {x, std::vector<GraphArg>{x}}),
                    "g::add: argument 1 'y': expected Tensor, got a list");
  CHECK_THROWS_WITH(g.call(add, {x, x, 1.0, 2}),
                    "g::add: got 4 positional arguments, the schema takes 3");
  CHECK_THROWS_WITH(g.call(add, {x, x}, {{"x", x}}), "g::add: argument 0 'x' given twice");
  CHECK_THROWS_WITH(g.call(add, {x, x}, {{"gamma", 1}}), "g::add: unknown argument 'gamma'");
  CHECK_THROWS_WITH(g.call_bound(add, {x}), "g::add: expected 4 arguments, got 1");
  CHECK_THROWS_AS(GraphArg(static_cast<Node*>(nullptr)), ValueError);
  CHECK(g.size() == 1);
}

TEST_CASE("nothing comes after the output, and no placeholder after another node") {
  World w;
  Graph g;
  Node* x = g.placeholder("x");
  g.call(w.op("g::print"), {x});
  CHECK_THROWS_WITH(g.placeholder("y"),
                    "graph: placeholder 'y': expected before all other nodes, got after 'print'");
  CHECK_THROWS_WITH(g.run({number(0)}), "graph: has no output");
  CHECK_THROWS_WITH(g.lint(), "graph: has no output");
  g.output({});
  CHECK_THROWS_WITH(g.output({}), Contains("has its output already"));
}

TEST_CASE("lint, run and dead-code elimination refuse nodes that do not come before their users") {
  World w;
  Graph g, other;
  Node* x = g.placeholder("x");
  Node* a = g.call(w.op("g::add"), {x, x});
  Node* b = g.call(w.op("g::add"), {a, x});
  g.output({b});
  g.lint();
  a->set_argument(1, b);
  const std::string late =
      "graph: node 'add': argument 1 is 'add_1', which does not come before it";
  CHECK_THROWS_WITH(g.lint(), late);
  CHECK_THROWS_WITH(g.run({number(0)}), late);
  CHECK_THROWS_WITH(g.eliminate_dead_code(), late);
  for (int i = 0; i < 9; ++i) other.placeholder("y");
  a->set_argument(1, other.at(8));
  const std::string foreign = "graph: node 'add': argument 1 is a node of another graph, 'y_8'";
  CHECK_THROWS_WITH(g.lint(), foreign);
  CHECK_THROWS_WITH(g.run({number(0)}), foreign);
  CHECK_THROWS_AS(a->set_argument(4, x), IndexError);
}

TEST_CASE("lint refuses items that are not there") {
  World w;
  Graph g;
  Node* x = g.placeholder("x");
  Node* p = g.call(w.op("g::pair"), {x});
  Node* two = g.get_item(p, 2);
  g.output({two});
  CHECK_THROWS_WITH(g.lint(), "graph: node 'getitem': item 2 of 'pair', which has 2 results");
  CHECK_THROWS_AS(g.run({number(0)}), IndexError);
  CHECK_THROWS_WITH(g.run({number(0)}),
                    "graph: node 'getitem': g::pair: item 2 is out of range: there are 2");
}

TEST_CASE("an operator that was removed is named when its graph prints, lints and runs") {
  World w;
  Library extra(w.dispatcher, Library::Kind::Fragment, "g");
  extra.define("gone(Tensor x, int n=1) -> Tensor", [](const Tensor& x, int64_t) { return x; });
  Graph g;
  Node* x = g.placeholder("x");
  Node* gone = g.call(w.op("g::gone"), {x});
  g.call(w.op("g::gone"), {gone});
  g.output({gone});
  CHECK(g.run({number(3)}).size() == 1);
  extra.close();
  CHECK(g.to_string() ==
        "graph(x):\n"
        "  gone = g::gone(x, 1)  # removed\n"
        "  gone_1 = g::gone(gone, 1)  # removed\n"
        "  return (gone,)\n");
  CHECK_THROWS_WITH(g.lint(), "graph: node 'gone': operator g::gone was removed");
  CHECK_THROWS_AS(g.run({number(3)}), NotImplementedError);
  CHECK_THROWS_WITH(g.run({number(3)}), "graph: node 'gone': operator g::gone was removed");
  CHECK(g.eliminate_dead_code() == 0);  // nobody knows what it would do
}

TEST_CASE("dead code goes; what writes, prints or draws random numbers stays") {
  World w;
  Graph g;
  Node* x = g.placeholder("x");
  g.placeholder("unused");
  Node* a = g.call(w.op("g::add"), {x, x});
  g.call(w.op("g::add"), {a, a});          // dead
  Node* p = g.call(w.op("g::pair"), {a});  // dead with its items
  g.get_item(p, 0);
  g.call(w.op("g::add"), {g.get_item(p, 1), g.constant(number(1))});
  Node* b = g.call(w.op("g::add"), {x, g.constant(number(2))});
  g.call(w.op("g::inc_"), {b});
  g.call(w.op("g::print"), {a});
  g.call(w.op("g::draw"), {x});
  g.output({x});
  CHECK(g.eliminate_dead_code() == 6);
  CHECK(g.to_string() ==
        "graph(x, unused):\n"
        "  add = g::add(x, x)\n"
        "  _tensor_constant1 = self._tensor_constant1  # float32[]\n"
        "  add_3 = g::add(x, _tensor_constant1)\n"
        "  inc_ = g::inc_(add_3)\n"
        "  g::print(add)  # token 1\n"
        "  draw = g::draw(x)\n"
        "  return (x,)\n");
  g.lint();
  CHECK(g.eliminate_dead_code() == 0);
  CHECK(g.run({number(1), number(2)}).size() == 1);
}

TEST_CASE("a graph holds its constants, each once") {
  World w;
  Graph g;
  {
    const Tensor c = number(40);
    Node* k = g.constant(c);
    CHECK(g.constant(c) == k);
    CHECK(g.constant(number(1))->name() == "_tensor_constant1");
    Node* a = g.call(w.op("g::add"), {k, g.at(1)});
    g.output({a});
    CHECK_THROWS_AS(Graph().constant(Tensor()), RuntimeError);
  }
  CHECK(value(g.run({})[0]) == 41);
  const Graph moved = std::move(g);
  CHECK(value(moved.run({})[0]) == 41);
}

// Calls the first subgraph on the arguments as often as the first of them says.
class Repeat : public HigherOrderTarget {
 public:
  explicit Repeat(bool impure = false) : impure_(impure) {}
  std::string name() const override { return "repeat"; }
  std::vector<IValue> run(
      std::vector<IValue> arguments,
      const std::vector<std::shared_ptr<const Graph>>& subgraphs) const override {
    const int64_t times = arguments.at(0).to_int();
    std::vector<IValue> state{arguments.at(1)};
    for (int64_t i = 0; i < times; ++i) state = subgraphs.at(0)->run_values(state);
    return state;
  }
  bool is_impure() const override { return impure_; }

 private:
  bool impure_;
};

TEST_CASE("a higher-order operator is a node with subgraphs, which print behind it") {
  World w;
  auto body = std::make_shared<Graph>();
  Node* s = body->placeholder("s", scalar_meta());
  body->output({body->call(w.op("g::add"), {s, s})});
  Graph g;
  Node* x = g.placeholder("x", scalar_meta());
  const auto repeat = std::make_shared<Repeat>();
  Node* r = g.call_higher_order(repeat, {3, x, Subgraph{"body", body}});
  Node* r2 = g.call_higher_order(repeat, {1, g.get_item(r, 0), Subgraph{"body", body}});
  g.output({g.get_item(r2, 0)});
  g.lint();
  CHECK(g.to_string() ==
        "graph(x: float32[]):\n"
        "  repeat = repeat(3, x, body)\n"
        "  getitem = repeat[0]\n"
        "  repeat_1 = repeat(1, getitem, body_1)\n"
        "  getitem_1 = repeat_1[0]\n"
        "  return (getitem_1,)\n"
        "\n"
        "body(s: float32[]):\n"
        "  add = g::add(s, s)\n"
        "  return (add,)\n"
        "\n"
        "body_1(s: float32[]):\n"
        "  add = g::add(s, s)\n"
        "  return (add,)\n");
  CHECK(value(g.run({number(1)})[0]) == 16);
  CHECK_THROWS_AS(g.call_higher_order(nullptr, {}), ValueError);
  CHECK_THROWS_WITH(Graph().call_higher_order(repeat, {Subgraph{"body", nullptr}}),
                    "graph: subgraph 'body' is null");
}

TEST_CASE("a higher-order call is dead code unless it, or a part of it, has effects") {
  World w;
  auto pure = std::make_shared<Graph>();
  pure->output({pure->placeholder("s")});
  auto writes = std::make_shared<Graph>();
  writes->output({writes->call(w.op("g::inc_"), {writes->placeholder("s")})});
  Graph g;
  Node* x = g.placeholder("x");
  g.call_higher_order(std::make_shared<Repeat>(), {1, x, Subgraph{"body", pure}});
  g.call_higher_order(std::make_shared<Repeat>(true), {1, x, Subgraph{"body", pure}});
  g.call_higher_order(std::make_shared<Repeat>(), {1, x, Subgraph{"body", writes}});
  g.output({});
  CHECK(g.eliminate_dead_code() == 1);
  const Tensor t = number(1);
  g.run_values({t});
  CHECK(value(t) == 2);
}

TEST_CASE("lint looks into subgraphs and refuses them where no higher-order operator is") {
  World w;
  auto open = std::make_shared<Graph>();
  Graph g;
  Node* x = g.placeholder("x");
  Node* a = g.call(w.op("g::add"), {x, x});
  g.call_higher_order(std::make_shared<Repeat>(), {Subgraph{"body", open}});
  g.output({a});
  CHECK_THROWS_WITH(g.lint(), "graph: has no output");
  open->output({});
  g.lint();
  a->set_argument(1, Subgraph{"body", open});
  CHECK_THROWS_WITH(g.lint(), Contains("argument 1 is a subgraph"));
  CHECK_THROWS_WITH(g.run({number(0)}), Contains("expected 4 arguments, got 3"));
}

TEST_CASE("a graph of 20,000 nodes runs, prints and goes without recursion") {
  World w;
  Graph g;
  Node* v = g.placeholder("x");
  for (int i = 0; i < 20000; ++i) v = g.call(w.op("g::add"), {v, g.at(0)});
  g.output({v});
  g.lint();
  CHECK(value(g.run({number(1)})[0]) == 20001);
  CHECK(v->name() == "add_19999");
  CHECK(g.to_string().size() > 20000);
  CHECK(g.eliminate_dead_code() == 0);
}

}  // namespace
}  // namespace sb
