#include "catch2/catch.hpp"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/control_flow/cond.h"

namespace sb::effects {
namespace {

using Catch::Contains;

TEST_CASE("an object that a traced call makes is a value of the graph") {
  const Program f = [](const Tensors& in) {
    const IValue queue = make_queue();
    push(queue, in[0]);
    return Tensors{pop(queue)};
  };
  const Graph graph = trace(f, {numbers({1})});
  CHECK(graph.to_string() ==
        "graph(arg0: float32[1]):\n"
        "  make_queue = effects::make_queue(8)\n"
        "  effects::push(make_queue, arg0)  # token 1\n"
        "  pop = effects::pop(make_queue)  # token 2\n"
        "  return (pop,)\n");
  CHECK(log_of([&] { graph.run({numbers({5})}); }) == "push 5, pop 5");
}

TEST_CASE("an object from outside is a constant: each run changes the same one") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  const Graph graph = trace(
      [&](const Tensors& in) {
        push(queue, in[0]);
        return Tensors{};
      },
      {numbers({1})});
  graph.run({numbers({2})});
  graph.run({numbers({3})});
  CHECK(size(queue) == 3);
}

TEST_CASE("a function that an operator takes cannot capture an object that the program has made") {
  const Program f = [](const Tensors& in) {
    const IValue queue = make_queue();
    const auto g = [&](const Tensor& x) {
      push(queue, x);
      return x + 1;
    };
    return cond(sum(in[0]) > 0, g, g, {in[0]});
  };
  CHECK_NOTHROW(f({numbers({1})}));
  CHECK_THROWS_AS(trace(f, {numbers({1})}), NotImplementedError);
  CHECK_THROWS_WITH(trace(f, {numbers({1})}),
                    Contains("higher_order::cond: true_fn: uses 'make_queue' of the traced graph "
                             "around it, object of __torch__.torch.classes.effects.Queue; only "
                             "tensors can be captured"));
}

}  // namespace
}  // namespace sb::effects
