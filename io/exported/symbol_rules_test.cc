#include "switchboard/io/exported/symbol_rules.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/io/exported/guard_expression.h"
#include "switchboard/io/exported/test_support.h"

namespace sb::io {
namespace {

using Catch::Contains;

Expression symbol(const char* name) {
  return Expression::parse(std::string("Symbol('") + name + "')");
}

// Inputs ids [s0, s1], mask [s0, s2] and twice [2*s0], where 2 <= s0 <= 8, s1 == s2 <= 64.
Program program() {
  Program program;
  program.origin = "net.pt2";
  const auto add = [&](const char* name, std::vector<Expression> sizes) {
    program.inputs.push_back({InputKind::User, name, "", false, TensorRef{name}});
    program.graph.inputs.push_back(TensorRef{name});
    program.graph.tensor_values[name] = {DType::Float32, sizes,
                                         std::vector<Expression>(sizes.size(), Expression(1))};
  };
  add("ids", {symbol("s0"), symbol("s1")});
  add("mask", {symbol("s0"), symbol("s2")});
  add("twice", {Expression::parse("Mul(Integer(2), Symbol('s0'))")});
  program.ranges = {{"s0", {2, 8}}, {"s1", {2, std::nullopt}}, {"s2", {2, std::nullopt}}};
  program.hints = {
      {"s0", SymValue::of_int(3)}, {"s1", SymValue::of_int(12)}, {"s2", SymValue::of_int(12)}};
  program.guards = {"L['ids'].size()[1] <= 64", "L['mask'].size()[1] == L['ids'].size()[1]"};
  return program;
}

std::vector<IValue> inputs(int64_t batch, int64_t length, int64_t mask, int64_t twice) {
  const auto make = [](std::vector<int64_t> sizes) {
    return empty_on(DeviceType::CPU, sizes, DType::Float32);
  };
  return {make({batch, length}), make({batch, mask}), make({twice})};
}

TEST_CASE("sizes of inputs give the symbols", "[io][symbols]") {
  const Program p = program();
  const SymbolRules rules(p);
  CHECK(rules.unread().empty());
  CHECK(rules.numbers_of(inputs(4, 7, 7, 8)) == SymbolNumbers{{"s0", 4}, {"s1", 7}, {"s2", 7}});
}

TEST_CASE("a size that the program forbids is refused with its constraint", "[io][symbols]") {
  const Program p = program();
  const SymbolRules rules(p);
  const auto error = [&](std::vector<IValue> given) {
    return error_of([&] { rules.numbers_of(given); });
  };
  CHECK_THAT(error(inputs(9, 7, 7, 18)), Contains("expected s0 <= 8, got s0 = 9"));
  CHECK_THAT(error(inputs(1, 7, 7, 2)), Contains("expected s0 >= 2"));
  CHECK_THAT(error(inputs(4, 65, 65, 8)), Contains("expected L['ids'].size()[1] <= 64"));
  CHECK_THAT(error(inputs(4, 7, 8, 8)),
             Contains("expected L['mask'].size()[1] == L['ids'].size()[1]"));
  CHECK_THAT(error(inputs(4, 7, 7, 9)),
             Contains("twice.size(0) is 9; the program takes 2*s0 = 8 there"));
}

TEST_CASE("a size goes by symbol, dimension, batch or seq", "[io][symbols]") {
  const Program p = program();
  const SymbolRules rules(p);
  const SymbolNumbers five{{"s0", 5}, {"s1", 12}, {"s2", 12}};
  for (const char* name : {"s0", "ids.size(0)", "ids.0", "mask.0", "batch"})
    CHECK(rules.with({{name, 5}}) == five);
  // What must be equal follows.
  for (const char* name : {"s1", "s2", "mask.1", "seq"})
    CHECK(rules.with({{name, 33}}) == SymbolNumbers{{"s0", 3}, {"s1", 33}, {"s2", 33}});
  CHECK_THAT(error_of([&] {
               rules.with({{"height", 5}});
             }),
             Contains("'height' is no dynamic size of this program") &&
                 Contains("s0 = ids.size(0) = mask.size(0), in 2..8"));
  CHECK_THAT(error_of([&] { rules.with({{"seq", 65}}); }), Contains("<= 64"));
}

TEST_CASE("samples are sizes that the program takes", "[io][symbols]") {
  const Program p = program();
  const SymbolRules rules(p);
  const std::vector<SymbolNumbers> samples = rules.samples(rules.hints(), 10);
  CHECK(samples.size() == 10);
  CHECK(samples[0] == rules.hints());
  for (const SymbolNumbers& sample : samples) CHECK(rules.admits(sample));
  CHECK(samples == rules.samples(rules.hints(), 10));
}

TEST_CASE("guards are read as Python would", "[io][symbols]") {
  const auto holds = [](const std::string& text, int64_t n) {
    const auto size_of = [](const std::string& name, int64_t dim) -> std::optional<Expression> {
      if (name == "x" && dim == 0) return symbol("n");
      return std::nullopt;
    };
    const auto number_of = [](const std::string& name) -> std::optional<Expression> {
      if (name == "args_0_k") return symbol("n");
      return std::nullopt;
    };
    return parse_guard(text, size_of, number_of).evaluate({{"n", SymValue::of_int(n)}}).as_bool();
  };
  CHECK(holds("2 <= L['x'].size()[0] <= 4", 3));
  CHECK_FALSE(holds("2 <= L['x'].size()[0] <= 4", 5));
  CHECK(holds("L['x'].size()[0] % 4 == 0 and not L['x'].size()[0] == 8", 12));
  CHECK_FALSE(holds("L['x'].size()[0] % 4 == 0 and not L['x'].size()[0] == 8", 8));
  CHECK(holds("L['args'][0]['k'] - 2 * 3 >= -(1 + 1)", 4));
  CHECK(holds("L['x'].size()[0] // 2 != 3 or Max(L['x'].size()[0], 9) == 9", 7));
  CHECK_THAT(error_of([&] { holds("L['y'].size()[0] == 1", 1); }), Contains("no such input: 'y'"));
  CHECK_THAT(error_of([&] { holds("open('/etc/passwd')", 1); }), Contains("'open' is not known"));
  CHECK_THAT(error_of([&] { holds(std::string(3'000, '('), 1); }), Contains("nested too deeply"));
  std::string chain = "1";
  for (int i = 0; i < 60; ++i) chain = "(0<" + chain + "<1)";
  CHECK_THAT(error_of([&] { holds(chain, 1); }), Contains("a chain over a comparison"));
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  CHECK_THAT(error_of([&] { holds(sum + " == 1", 1); }), Contains("longer than 4,000 characters"));
}

TEST_CASE("symbols and functions may be called like Equality", "[io][symbols]") {
  Program p = program();
  p.graph.tensor_values["twice"].sizes[0] = symbol("Equality");
  p.hints.emplace("Equality", SymValue::of_int(1));
  p.guards = {"L['twice'].size()[0]", "Equality(L['twice'].size()[0])"};
  SymbolRules rules(p);
  CHECK_FALSE(rules.admits({{"Equality", 0}}));
}

TEST_CASE("a guard that cannot be read is told, not dropped", "[io][symbols]") {
  Program p = program();
  p.guards.push_back("L['ids'].stride()[0] == 1");
  const SymbolRules rules(p);
  REQUIRE(rules.unread().size() == 1);
  CHECK_THAT(rules.unread()[0], Contains("stride()[0] == 1"));
}

}  // namespace
}  // namespace sb::io
