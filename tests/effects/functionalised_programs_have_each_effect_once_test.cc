#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::effects {
namespace {

using Catch::Contains;

Program functionalised(const Program& f, bool by_mode) {
  if (!by_mode) return functionalize(f);
  return [f](const Tensors& in) { return FunctionalMode().functionalize(f)(in); };
}

// Eager, functionalised, and both as graphs, must write the same.
void check_same_effects(const Program& f, const std::string& expected) {
  CHECK(log_of([&] { f({numbers({1, 2})}); }) == expected);
  CHECK(log_of([&] {
          trace(f, {numbers({1, 2})}).run({numbers({1, 2})});
        }) == expected + ", " + expected);
  const bool by_mode = GENERATE(false, true);
  const Program g = functionalised(f, by_mode);
  CHECK(log_of([&] { g({numbers({1, 2})}); }) == expected);
  Graph graph;
  CHECK(log_of([&] { graph = trace(g, {numbers({1, 2})}); }) == expected);
  graph.eliminate_dead_code();
  CHECK(log_of([&] { graph.run({numbers({1, 2})}); }) == expected);
}

TEST_CASE("effects see what was written before them, and nothing of what comes later") {
  check_same_effects(
      [](const Tensors& in) {
        note_value("a", in[0]);
        add_Scalar_(in[0], 1);
        note_value("b", in[0]);
        mul_(in[0], in[0]);
        copied(in[0]);
        return Tensors{in[0]};
      },
      "a=1, 2, b=2, 3, copied 4, 9");
}

TEST_CASE("calls on objects stay in order") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  check_same_effects(
      [&](const Tensors& in) {
        push(queue, in[0] + 0);
        add_Scalar_(in[0], 1);
        push(queue, in[0] + 0);
        pop(queue);
        note_value("left", pop(queue));
        return Tensors{};
      },
      "push 1, 2, push 2, 3, pop 1, 2, pop 2, 3, left=2, 3");
}

TEST_CASE("an operator that writes in place runs itself, and not its functional form or twice") {
  const Program f = [](const Tensors& in) {
    twice_(in[0]);
    return Tensors{in[0] + 1};
  };
  check_same_effects(f, "twice_ 1, 2");
  const Tensor x = numbers({1, 2});
  CHECK(text_of(functionalize(f)({x})[0]) == "3, 5");
  CHECK(text_of(x) == "2, 4");
}

TEST_CASE("a view that has an effect is refused: it would be made again") {
  Library m(default_dispatcher(), Library::Kind::Fragment, "effects");
  m.own(register_effect(m.define("same(Tensor(a) x) -> Tensor(a)"), Effect::Ordered));
  m.impl("same", DispatchKey::CompositeExplicitAutograd,
         [](const OperatorHandle&, DispatchKeySet, Stack* stack) {
           stack->back() = IValue(stack->back().to_tensor());
         });
  const Program f = [](const Tensors& in) {
    return Tensors{
        default_dispatcher().find_op_or_throw("effects::same").call({in[0]})[0].to_tensor()};
  };
  CHECK(text_of(f({numbers({1})})[0]) == "1");
  CHECK_THROWS_AS(functionalize(f)({numbers({1})}), NotImplementedError);
  CHECK_THROWS_WITH(functionalize(f)({numbers({1})}),
                    Contains("effects::same: the operator has an effect and gives a view, which "
                             "functionalisation makes again"));
}

}  // namespace
}  // namespace sb::effects
