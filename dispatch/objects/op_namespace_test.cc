#include "switchboard/dispatch/objects/op_namespace.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/dispatch/schema/near_names.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

using Catch::Contains;
using K = DispatchKey;
using Kind = Library::Kind;
using Names = std::vector<std::string>;

TEST_CASE("an operator is found by namespace, name and overload") {
  Dispatcher d;
  const Ops ops(d);
  Library m(d, Kind::Def, "demo");
  m.define("add.Tensor(Tensor x) -> Tensor");
  m.define("add(int n) -> int");
  CHECK(ops["demo"]["add"]["Tensor"].name() == "demo::add.Tensor");
  CHECK(ops["demo"]["add"]["default"].name() == "demo::add");
  CHECK(ops["demo"]["add"]["Tensor"] == OpOverload(*d.find_op("demo::add.Tensor")));
  CHECK(ops["demo"].name() == "demo");
  CHECK(ops["demo"]["add"].name() == "demo::add");
  CHECK(ops["demo"]["add"].repr() == "<OpOverloadPacket(op='demo.add')>");
  CHECK(ops["demo"]["add"] == ops["demo"]["add"]);
}

TEST_CASE("iteration gives what exists; known() what was looked up") {
  Dispatcher d;
  const Ops ops(d);
  Library m(d, Kind::Def, "demo"), other(d, Kind::Def, "other");
  CHECK(ops.names().empty());
  m.define("b(int n) -> int");
  m.define("a.x(int n) -> int");
  m.define("a.y(int n) -> int");
  other.define("c(int n) -> int");
  CHECK(ops.names() == Names{"demo", "other"});
  CHECK(ops["demo"].names() == Names{"a", "b"});
  CHECK(ops["demo"].known().empty());
  ops["demo"]["b"];
  CHECK(ops["demo"].known() == Names{"b"});
}

TEST_CASE("an unknown name is an error that names what is near") {
  Dispatcher d;
  const Ops ops(d);
  CHECK_THROWS_WITH(ops["demo"]["add"],
                    "demo::add: the namespace 'demo' has no operators; namespaces: none");
  Library m(d, Kind::Def, "demo");
  for (const char* name : {"add", "addmm", "abs", "convolution"})
    m.define(std::string(name) + "(int n) -> int");
  m.define("add.Tensor(Tensor x) -> Tensor");
  CHECK_THROWS_WITH(ops["demo"]["ad"],
                    "demo::ad: no operator of that name is registered; there is add, addmm");
  CHECK_THROWS_WITH(ops["demo"]["convolutoin"], Contains("there is convolution"));
  CHECK_THROWS_WITH(ops["demo"]["zzzzzz"], Contains("the namespace has 4 others"));
  CHECK_THROWS_WITH(ops["dmeo"]["add"], Contains("no operators; namespaces: demo"));
  CHECK_THROWS_AS(ops["demo"]["ad"], AttributeError);
  CHECK_THROWS_WITH(ops["demo"]["add"]["Scalar"],
                    "demo::add: no overload 'Scalar'; overloads: default, Tensor");
  CHECK_FALSE(ops["demo"].find("ad"));
  CHECK_FALSE(ops["demo"]["add"].find("Scalar"));
}

TEST_CASE("near names are a few, the nearest first") {
  using internal::near_names;
  CHECK(near_names("relu", {"relu_", "gelu", "tanh", "relu6", "prelu"}) ==
        Names{"gelu", "prelu", "relu6", "relu_"});
  CHECK(near_names("x", {"y", "z", "ab"}).empty());
  CHECK(near_names("a", {"a1", "a2", "a3", "a4", "a5", "a6"}).size() == 5);
  CHECK(near_names("", {"a"}).empty());
}

TEST_CASE("an overload that comes late is seen through packets that are there already") {
  Dispatcher d;
  const Ops ops(d);
  Library m(d, Kind::Def, "demo");
  m.define("f.z(int n) -> int");
  m.impl("f.z", K::CompositeExplicitAutograd, [](int64_t n) { return n; });
  const OpOverloadPacket packet = ops["demo"]["f"];
  CHECK(packet.overloads() == Names{"z"});
  CHECK_THROWS_AS(packet("text"), TypeError);
  {
    Library late(d, Kind::Fragment, "demo");
    late.define("f.a(str s) -> int");
    late.impl("f.a", K::CompositeExplicitAutograd,
              [](std::string_view s) { return static_cast<int64_t>(s.size()); });
    CHECK(packet.overloads() == Names{"z", "a"});
    CHECK(packet["a"].name() == "demo::f.a");
    CHECK(packet("text")[0].to_int() == 4);
  }
  CHECK(packet.overloads() == Names{"z"});
  CHECK_THROWS_AS(packet["a"], AttributeError);
  CHECK_THROWS_AS(packet("text"), TypeError);
}

TEST_CASE("what a library defined is forgotten when it closes") {
  Dispatcher d;
  const Ops ops(d);
  Library kept(d, Kind::Fragment, "demo");
  kept.define("g(int n) -> int");
  const OpNamespace demo = ops["demo"];
  demo["g"];
  std::optional<OpOverloadPacket> packet;
  try {
    ScopedLibrary m(d, Kind::Fragment, "demo");
    m.define("f(int n) -> int");
    packet = demo["f"];
    CHECK(demo.known() == Names{"f", "g"});
    SB_THROW(ValueError, "out of the scope");
  } catch (const ValueError&) {
  }
  CHECK(demo.known() == Names{"g"});
  CHECK(demo.names() == Names{"g"});
  CHECK_THROWS_AS(demo["f"], AttributeError);
  CHECK(packet->overloads().empty());
  CHECK(packet->items().empty());
  CHECK(packet->name() == "demo::f");
  CHECK_THROWS_AS((*packet)["default"], AttributeError);
  CHECK_THROWS_AS((*packet)(1), NotImplementedError);
  CHECK_THROWS_AS(packet->resolve({1}), NotImplementedError);
  SECTION("and found when it is defined anew, with another schema too") {
    ScopedLibrary m(d, Kind::Fragment, "demo");
    m.define("f(str s) -> str");
    CHECK(packet->schemas()[0].to_string() == "demo::f(str s) -> str");
    CHECK(demo["f"] == *packet);
  }
}

struct OverloadsTest {
  OverloadsTest() {
    // Out of alphabetical order.
    for (const char* overload : {"Tensor(Tensor x, Tensor y)", "Scalar(Tensor x, float y)",
                                 "Int(Tensor x, int y)", "Keyword(Tensor x, *, str mode)"}) {
      const OperatorHandle op = m.define(std::string("f.") + overload + " -> str");
      const std::string name = op.name().overload;
      m.impl(op, K::CompositeExplicitAutograd,
             [name](const OperatorHandle&, DispatchKeySet, Stack* stack) { *stack = {name}; });
    }
  }
  std::string call(const Arguments& positional, const KeywordArguments& keyword = {}) {
    return std::string(f.call(positional, keyword)[0].to_string_view());
  }

  Dispatcher d;
  Library m{d, Kind::Def, "demo"};
  OpOverloadPacket f{d, "demo::f"};
  Tensor x = tensor_on(DeviceType::CPU);
};

TEST_CASE_METHOD(OverloadsTest, "a packet lists overloads in the order of their definition") {
  CHECK(f.overloads() == Names{"Tensor", "Scalar", "Int", "Keyword"});
  CHECK(f.items()[2].name() == "demo::f.Int");
  CHECK(f.schemas()[3].to_string() == "demo::f.Keyword(Tensor x, *, str mode) -> str");
}

TEST_CASE_METHOD(OverloadsTest, "a call goes to the first overload that takes the arguments") {
  CHECK(call({x, x}) == "Tensor");
  CHECK(call({x, 2.5}) == "Scalar");
  CHECK(call({x, 2}) == "Scalar");  // an int may be a float, and Scalar came before Int
  CHECK(call({x}, {{"mode", "fast"}}) == "Keyword");
  CHECK(call({}, {{"x", x}, {"y", x}}) == "Tensor");
  CHECK(f.resolve({x, x}).overload_name() == "Tensor");
  CHECK(f(x, x)[0].to_string_view() == "Tensor");
}

TEST_CASE_METHOD(OverloadsTest, "if none does, one error has the reason of each") {
  CHECK_THROWS_AS(call({x, "text"}), TypeError);
  CHECK_THROWS_WITH(call({x, "text"}),
                    "demo::f: no overload takes these arguments; tried, in this order:\n"
                    "  demo::f.Tensor(Tensor x, Tensor y) -> str\n"
                    "    argument 1 'y': expected Tensor, got str\n"
                    "  demo::f.Scalar(Tensor x, float y) -> str\n"
                    "    argument 1 'y': expected float, got str\n"
                    "  demo::f.Int(Tensor x, int y) -> str\n"
                    "    argument 1 'y': expected int, got str\n"
                    "  demo::f.Keyword(Tensor x, *, str mode) -> str\n"
                    "    expected at most 1 positional arguments, got 2");
}

TEST_CASE("an error of the kernel is not taken for a mismatch") {
  Dispatcher d;
  Library m(d, Kind::Def, "demo");
  for (const char* schema : {"f.a(int n) -> int", "f.b(float n) -> int"}) {
    m.impl(m.define(schema), K::CompositeExplicitAutograd,
           [](const OperatorHandle& op, DispatchKeySet, Stack*) {
             SB_THROW(TypeError, "thrown by ", op.name().overload);
           });
  }
  CHECK_THROWS_WITH((OpOverloadPacket(d, "demo::f")(1)), "thrown by a");
}

TEST_CASE("the global object looks into the default dispatcher") {
  Library m(Kind::Def, "op_namespace_test");
  m.define("f(int n) -> int");
  CHECK(ops["op_namespace_test"]["f"]["default"].schema().to_string() ==
        "op_namespace_test::f(int n) -> int");
  m.close();
  CHECK_THROWS_AS(ops["op_namespace_test"]["f"], AttributeError);
}

TEST_CASE("look-ups go on while other threads define and remove") {
  Dispatcher d;
  const Ops ops(d);
  Library base(d, Kind::Def, "demo");
  base.define("f(int n) -> int");
  base.impl("f", K::CompositeExplicitAutograd, [](int64_t n) { return n; });
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const OpOverloadPacket held = ops["demo"]["f"];
      while (!stop) {
        wrong += held(3)[0].to_int() != 3;
        wrong += ops["demo"]["f"]["default"](4)[0].to_int() != 4;
        ops["demo"].names();
        try {
          ops["demo"]["g"]("x");
        } catch (const AttributeError&) {
        } catch (const NotImplementedError&) {
        }
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    Library m(d, Kind::Fragment, "demo");
    m.define("f.late(str s) -> str");
    m.define("g(str s) -> str");
    m.impl("g", K::CompositeExplicitAutograd, [](const OperatorHandle&, DispatchKeySet, Stack*) {});
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a higher-order operator is none of them, and the error says where it is") {
  const HigherOrderOperator apply("apply_in_ops_test");
  CHECK_THROWS_WITH(ops["higher_order"]["apply_in_ops_test"],
                    "higher_order::apply_in_ops_test: a higher-order operator has no overloads; "
                    "find_higher_order_op() gives it");
}

TEST_CASE("iteration shows the higher-order operators, in the default dispatcher alone") {
  Dispatcher d;
  const Ops others(d);
  {
    const HigherOrderOperator b("listed_b"), a("listed_a");
    Names listed = ops["higher_order"].names();
    CHECK(std::is_sorted(listed.begin(), listed.end()));
    std::erase_if(listed, [](const std::string& name) { return !name.starts_with("listed"); });
    CHECK(listed == Names{"listed_a", "listed_b"});
    const Names all = ops.names();
    CHECK(std::count(all.begin(), all.end(), "higher_order") == 1);
    CHECK_THROWS_WITH(ops["higher_order"]["listed_c"], Contains("no operator of that name"));
    CHECK(others["higher_order"].names().empty());
    CHECK(others.names().empty());
  }
  for (const std::string& name : ops["higher_order"].names()) CHECK_FALSE(name == "listed_a");
}

TEST_CASE("a call never goes to an overload that another thread is removing") {
  Dispatcher d;
  Library base(d, Kind::Def, "demo");
  base.define("f(int n) -> int");
  base.impl("f", K::CompositeExplicitAutograd, [](int64_t n) { return n; });
  const OpOverloadPacket f = Ops(d)["demo"]["f"];
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      Library m(d, Kind::Fragment, "demo");
      m.define("f.late(str s) -> str");
      m.define("f.later(Tensor x) -> Tensor");
    }
  });
  int mismatches = 0;
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(f(3)[0].to_int() == 3);
    REQUIRE_FALSE(f.schemas().empty());
    // This looks at every overload.
    try {
      f(1.5);
    } catch (const TypeError&) {
      ++mismatches;
    } catch (const NotImplementedError& error) {
      FAIL_CHECK(error.what());
      break;
    }
  }
  stop = true;
  other.join();
  CHECK(mismatches == 3000);
}

}  // namespace
}  // namespace sb
