// Operators that do more than their schemas say.

#include "switchboard/dispatch/modes/effects.h"

#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/purity.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/derivatives/checkpoint.h"
#include "switchboard/transforms/higher_order/print.h"
#include "switchboard/transforms/higher_order/with_effects.h"

namespace sb::questions {
namespace {

// q::note(x) -> (), which notes the first element, and q::count(x) -> x + 1, which notes that it
// was called.
struct Notes {
  std::string text;
  CustomOp note = custom_op("q::note", [this](const Tensor& x) {
    text += std::to_string(static_cast<int>(values_of(x)[0])) + " ";
  });
  CustomOp count = custom_op("q::count", [this](const Tensor& x) {
                     text += "count ";
                     return x + 1;
                   }).register_fake([](const Tensor& x) { return empty_like(x); });
  std::string take() { return std::exchange(text, ""); }
};

SB_QUESTION(
    "An operator that returns nothing prints. Does dead-code elimination of a graph keep "
    "it?",
    .pytorch = "No: it is left out without a word, unless it was registered as effectful.",
    .here = "Yes: an operator without results and writes has no other use.",
    .better = "What a program does, its graph does.") {
  Notes notes;
  Graph graph = trace(
      [&](const Tensors& in) {
        notes.note.call<void>(in[0]);
        return Tensors{in[0] * 3};
      },
      {numbers({1})});
  graph.eliminate_dead_code();
  notes.take();
  graph.run({numbers({2})});
  CHECK(notes.take() == "2 ");
}

SB_QUESTION("One that returns a tensor, which nobody uses?",
            .both = "It is left out, unless register_effect said that it has an effect.") {
  Notes notes;
  const auto graph_runs = [&] {
    Graph graph = trace(
        [&](const Tensors& in) {
          notes.count(in[0]);
          return Tensors{in[0] * 3};
        },
        {numbers({1})});
    graph.eliminate_dead_code();
    notes.take();
    graph.run({numbers({2})});
    return notes.take();
  };
  CHECK(graph_runs() == "");
  notes.count.register_effect(Effect::Ordered);
  CHECK(graph_runs() == "count ");
}

SB_QUESTION(
    "An effect is registered for an operator, and the library goes that registered it. Has "
    "the operator an effect?",
    .both = "No longer.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  {
    Library other(Library::Kind::Fragment, "q");
    other.own(register_effect(op, Effect::Ordered));
    CHECK(has_ordered_effect(op));
  }
  CHECK_FALSE(has_ordered_effect(op));
}

SB_QUESTION("And if two libraries registered it?",
            .pytorch = "The second replaces what the first said, and takes it along when it goes.",
            .here = "The second is refused, with the place of the first.",
            .better = "The operator does not lose its effect while the first library is there.") {
  Library m(Library::Kind::Def, "q");
  const OpOverload op(m.define("f(Tensor x) -> Tensor"));
  m.own(register_effect(op, Effect::Ordered));
  CHECK_THAT(error_of([&] { register_effect(op, Effect::Ordered).destroy(); }),
             StartsWith("RuntimeError"));
  CHECK(has_ordered_effect(op));
}

SB_QUESTION("An effect is registered for an operator that writes to an argument. Has it one?",
            .pytorch = "No: aliasing schemas have none, whatever was registered.",
            .here = "has_ordered_effect() says yes, has_effects() no.",
            .better = "It was said, and calls keep their order.") {
  CustomOp op = custom_op("q::f", "(Tensor(a!) x) -> ()", [](const Tensor&) {});
  op.register_effect(Effect::Ordered);
  CHECK(has_ordered_effect(op.op()));
  CHECK_FALSE(has_effects(op.op()));
}

SB_QUESTION("Effects are functionalised. In which order do they come?",
            .both = "In that of the program.") {
  Notes notes;
  const Program program = [&](const Tensors& in) {
    notes.note.call<void>(in[0]);
    const Tensor y = in[0] * 10;
    notes.note.call<void>(y);
    add_Scalar_(y, 1);
    notes.note.call<void>(y);
    return Tensors{y};
  };
  functionalize(program)({numbers({1})});
  CHECK(notes.take() == "1 10 11 ");
  const Graph graph = trace(functionalize(program), {numbers({1})});
  notes.take();
  graph.run({numbers({2})});
  CHECK(notes.take() == "2 20 21 ");
}

SB_QUESTION("And by the functional mode without a token that somebody prepared?",
            .pytorch = "AssertionError: no token for the effect.",
            .here = "In the order of the program.", .better = "No token is needed.") {
  Notes notes;
  const Program program = [&](const Tensors& in) {
    notes.note.call<void>(in[0]);
    notes.note.call<void>(in[0] * 2);
    return Tensors{in[0] * 1};
  };
  FunctionalMode().functionalize(program)({numbers({1})});
  CHECK(notes.take() == "1 2 ");
}

SB_QUESTION("An effect is in a branch. When does it come about?",
            .both = "If the branch is taken. Tracing has no effect of the other one.") {
  Notes notes;
  const Program program = [&](const Tensors& in) {
    return cond(
        in[0],
        [&](const Tensor& x) {
          notes.note.call<void>(x);
          return x + 1;
        },
        [](const Tensor& x) { return x - 1; }, {in[1]});
  };
  program({truth(false), numbers({1})});
  CHECK(notes.take() == "");
  const Graph graph = trace(program, {truth(false), numbers({1})});
  CHECK(notes.take() == "");
  graph.run({truth(true), numbers({7})});
  CHECK(notes.take() == "7 ");
}

SB_QUESTION("A branch that is taken has an effect and is derived. How often does it come about?",
            .pytorch =
                "More than once: making the gradient's graph runs the branch again. An "
                "effect without a fake rule is an error.",
            .here = "Once.", .better = "Gradients do not change what a program does.") {
  Notes notes;
  const Tensor x = leaf({2});
  const Tensor y = cond(
      truth(true),
      [&](const Tensor& t) {
        notes.note.call<void>(t);
        return t * 2;
      },
      [](const Tensor& t) { return t * 3; }, {x})[0];
  CHECK(gradient(y, x) == Values{2});
  CHECK(notes.take() == "2 ");
}

SB_QUESTION(
    "An effect is in a part that is computed again for backward (a checkpoint). How often "
    "does it come about?",
    .pytorch = "Twice.", .here = "Once.", .better = "Saving memory does not print twice.") {
  Notes notes;
  const Tensor x = leaf({2});
  const Tensor y = wrap_activation_checkpoint(
      [&](const Tensor& t) {
        notes.note.call<void>(t);
        return t * t;
      },
      {x})[0];
  CHECK(gradient(y, x) == Values{4});
  CHECK(notes.take() == "2 ");
}

SB_QUESTION("An operator with an effect gets fake tensors. Does it come about?",
            .pytorch = "No: RuntimeError that asks for a fake rule.",
            .here = "No; if it returns nothing the call is passed over, else it needs a rule.",
            .better = "Nothing needs to be made up for what returns nothing.") {
  Notes notes;
  FakeTensorMode fake;
  notes.note.call<void>(fake.from_tensor(numbers({1})));
  CHECK(notes.take() == "");
}

SB_QUESTION("print() is given a format with a place that has no value?", .both = "IndexError.") {
  CHECK_THAT(error_of([] { sb::print("{} and {}", {1}); }), StartsWith("IndexError"));
}

SB_QUESTION("with_effects calls an operator, nobody uses its token, and it is traced. Where is it?",
            .pytorch = "It ran, and the graph of make_fx does not have it, without a word.",
            .here = "In the graph, which has the effect whenever it runs.",
            .better = "What a program does, its graph does.") {
  Notes notes;
  Graph graph = trace(
      [](const Tensors& in) {
        with_effects(empty({0}), "q::note", {in[0]});
        return Tensors{in[0] * 3};
      },
      {numbers({1})});
  graph.eliminate_dead_code();
  CHECK(notes.take() == "1 ");
  graph.run({numbers({2})});
  CHECK(notes.take() == "2 ");
}

SB_QUESTION("with_effects is given an operator that writes to its argument?",
            .both = "It is refused: what is written is not among the results.") {
  const CustomOp op = custom_op("q::write", "(Tensor(a!) x) -> ()", [](const Tensor&) {});
  CHECK_THAT(error_of([] { with_effects(empty({0}), "q::write", {numbers({1})}); }),
             StartsWith("RuntimeError"));
}

}  // namespace
}  // namespace sb::questions
