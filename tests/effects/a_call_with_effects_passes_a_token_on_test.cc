// The higher-order operator with_effects.

#include <iostream>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/with_effects.h"

namespace sb::effects {
namespace {

using Catch::Contains;

Tensors notes(const Tensors& in) {
  Tensor token = empty({0});
  token = with_effects(token, "effects::note", {"begin"}).first;
  const auto [next, results] = with_effects(token, "effects::copied", {in[0] + 1});
  with_effects(next, "effects::note_value", {"y"}, {{"x", results.at(0)}});
  return results;
}

TEST_CASE("it runs the operator, and gives an empty token and what the operator gives") {
  const Tensor x = numbers({1, 2});
  CHECK(log_of([&] { CHECK(text_of(notes({x})[0]) == "2, 3"); }) == "begin, copied 2, 3, y=2, 3");
  const Tensor token = empty({0});
  const auto [next, results] = with_effects(token, "effects::note", {"again"});
  CHECK(next.numel() == 0);
  CHECK_FALSE(next.is_alias_of(token));
  CHECK(results.empty());
  take_log();
}

TEST_CASE("it prints, in a graph too, and calls no other operator that takes functions") {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  const Program program = [](const Tensors& in) {
    with_effects(empty({0}), "higher_order::print", {"got {} of {all}", in[0]}, {{"all", 7}});
    return Tensors{in[0] + 1};
  };
  Graph graph = trace(program, {numbers({2})});
  out.str("");
  program({numbers({1})});
  graph.eliminate_dead_code();
  graph.run({numbers({3})});
  std::cout.rdbuf(before);
  CHECK(out.str() == "got tensor([1.]) of 7\ngot tensor([3.]) of 7\n");
  CHECK_THROWS_WITH(with_effects(empty({0}), "higher_order::cond", {}),
                    Contains("op: expected an operator with a schema, or higher_order::print"));
}

TEST_CASE("graphs keep the calls in their order, though nobody uses the last token") {
  const Tensor x = numbers({1});
  for (const Program& way : {Program(notes), Program(functionalize(notes)),
                             Program(FunctionalMode().functionalize(notes))}) {
    Graph graph = trace(way, {x});
    graph.eliminate_dead_code();
    graph.lint();
    INFO(graph.to_string());
    CHECK(graph.num_tokens() == 3);
    CHECK_THAT(graph.to_string(), Contains("with_effects(getitem, 'effects::copied', [add], [])"));
    take_log();
    CHECK(log_of([&] { CHECK(text_of(graph.run({numbers({5})})[0]) == "6"); }) ==
          "begin, copied 6, y=6");
  }
}

TEST_CASE("on fake tensors, and in a function that is only traced, nothing comes about") {
  const Tensor x = numbers({1});
  FakeTensorMode fake;
  CHECK(log_of([&] {
          with_effects(fake.from_tensor(empty({0})), "effects::note_value",
                       {"x", fake.from_tensor(x)});
        }) == "");
  const Program branches = [](const Tensors& in) {
    const auto say = [](const char* what) {
      return [what](const Tensor& t) {
        with_effects(empty({0}), "effects::note", {what});
        return t + 1;
      };
    };
    return cond(in[0] > 0, say("yes"), say("no"), {in[0]});
  };
  Graph graph;
  CHECK(log_of([&] { graph = trace(branches, {x}); }) == "yes");
  CHECK(log_of([&] { graph.run({numbers({-1})}); }) == "no");
}

TEST_CASE("an operator that writes, or gives a view, is refused: that is not among the results") {
  const Tensor x = numbers({1});
  CHECK_THROWS_WITH(with_effects(empty({0}), "effects::twice_", {x}),
                    Contains("higher_order::with_effects: op: expected one that neither writes to "
                             "its arguments nor gives views of them, got effects::twice_"));
  CHECK_THROWS_AS(with_effects(empty({0}), "aten::t", {x}), RuntimeError);
}

}  // namespace
}  // namespace sb::effects
