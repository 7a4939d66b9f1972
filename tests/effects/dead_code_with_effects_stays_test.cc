#include "catch2/catch.hpp"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::effects {
namespace {

// What the program writes must be what its graph writes without its dead code.
void check_effects_stay(const Program& f, size_t removed) {
  const Tensor x = numbers({1, 2});
  const std::string log = log_of([&] { f({x}); });
  Graph graph = trace(f, {x});
  CHECK(graph.eliminate_dead_code() == removed);
  graph.lint();
  CHECK(log_of([&] { graph.run({x}); }) == log);
}

TEST_CASE("an operator that returns nothing stays, with what it takes") {
  check_effects_stay(
      [](const Tensors& in) {
        note("a");
        note_value("b", in[0] * 2);
        in[0] + 1;  // dead
        return Tensors{in[0]};
      },
      1);
}

TEST_CASE("an operator whose result is not used stays where it has an effect") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  check_effects_stay(
      [&](const Tensors& in) {
        copied(in[0] + 1);
        push(queue, in[0]);
        pop(queue);
        return Tensors{in[0] + 3};
      },
      0);
}

TEST_CASE("a higher-order call stays where a function of it has an effect") {
  const auto program = [](bool effect) {
    return [effect](const Tensors& in) {
      const auto f = [effect](const Tensor& x) {
        if (effect) note("in the body");
        return x + 1;
      };
      cond(sum(in[0]) > 0, f, [](const Tensor& x) { return x + 2; }, {in[0]});
      return Tensors{in[0] * 2};
    };
  };
  check_effects_stay(program(true), 1);  // the result of the call
  Graph pure = trace(program(false), {numbers({1})});
  CHECK(pure.eliminate_dead_code() >= 2);
}

}  // namespace
}  // namespace sb::effects
