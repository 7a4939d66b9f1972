#include "catch2/catch.hpp"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/tests/effects/operators.h"

namespace sb::effects {
namespace {

using Catch::Contains;

TEST_CASE("each run of a graph has the effects of the program, and its text numbers them") {
  const Program f = [](const Tensors& in) {
    note("begin");
    const Tensor y = in[0] + 1;
    note_value("y", y);
    const Tensor z = copied(y);
    note("end");
    return Tensors{z};
  };
  const Tensor x = numbers({1, 2});
  CHECK(log_of([&] { f({x}); }) == "begin, y=2, 3, copied 2, 3, end");
  Graph graph;
  CHECK(log_of([&] { graph = trace(f, {x}); }) == "begin, y=2, 3, copied 2, 3, end");
  CHECK(graph.to_string() ==
        "graph(arg0: float32[2]):\n"
        "  effects::note('begin')  # token 1\n"
        "  add = aten::add.Scalar(arg0, 1)\n"
        "  effects::note_value('y', add)  # token 2\n"
        "  copied = effects::copied(add)  # token 3\n"
        "  effects::note('end')  # token 4\n"
        "  return (copied,)\n");
  graph.lint();
  CHECK(graph.num_tokens() == 4);
  CHECK(log_of([&] { CHECK(text_of(graph.run({numbers({5})})[0]) == "6"); }) ==
        "begin, y=6, copied 6, end");
}

TEST_CASE("calls on an object keep their order: what is pushed first is popped first") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  const Program f = [&](const Tensors& in) {
    push(queue, in[0]);
    push(queue, in[0] + 1);
    const Tensor first = pop(queue);
    push(queue, first * 10);
    return Tensors{pop(queue), pop(queue)};
  };
  const Graph graph = trace(f, {numbers({1})});
  const std::string log = log_of([&] {
    const Tensors results = graph.run({numbers({3})});
    CHECK(text_of(results[0]) == "4");
    CHECK(text_of(results[1]) == "30");
  });
  CHECK(log == "push 3, push 4, pop 3, push 30, pop 4, pop 30");
  CHECK(graph.num_tokens() == 6);
}

TEST_CASE("a mark on the thread counts while the program is traced") {
  const OperatorHandle sin = default_dispatcher().find_op_or_throw("aten::sin");
  const auto trace_it = [&] {
    return trace([&](const Tensors& in) { return Tensors{sin.call({in[0]})[0].to_tensor()}; },
                 {numbers({1})});
  };
  CHECK(trace_it().num_tokens() == 0);
  const OrderedEffectGuard mark(sin);
  CHECK(trace_it().num_tokens() == 1);
}

TEST_CASE("a number that an operator with an effect gives is not burnt in") {
  const IValue queue(IntrusivePtr<OpaqueObject>(make_intrusive<Queue>()));
  const Program f = [&](const Tensors& in) { return Tensors{in[0] + size(queue)}; };
  CHECK_THROWS_AS(trace(f, {numbers({1})}), DataDependentOutputError);
  CHECK_THROWS_WITH(trace(f, {numbers({1})}),
                    Contains("effects::size: the operator has an effect, so that what it gives may "
                             "be another int in each run, and would be burnt into the graph"));
  CHECK(trace(f, {numbers({1})}, {.refuse_data_dependent = false}).num_tokens() == 1);
}

}  // namespace
}  // namespace sb::effects
