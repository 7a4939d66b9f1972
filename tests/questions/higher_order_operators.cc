// Operators that call one function, or an operator that writes.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/questions/every_way.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/higher_order/auto_functionalized.h"
#include "switchboard/transforms/higher_order/hints_wrapper.h"
#include "switchboard/transforms/higher_order/invoke_subgraph.h"
#include "switchboard/transforms/higher_order/out_dtype.h"
#include "switchboard/transforms/higher_order/rng_state.h"
#include "switchboard/transforms/higher_order/strict_mode.h"
#include "switchboard/transforms/higher_order/wrap.h"

namespace sb::questions {
namespace {

Tensor times2(const Tensor& x) { return x * 2; }
Tensor times3(const Tensor& x) { return x * 3; }
Tensor writes(const Tensor& x) {
  add_Scalar_(x, 1);
  return x * 1;
}

SB_QUESTION("Which operators may out_dtype run, and have they gradients?",
            .pytorch = "Eight of ATen's, functional ones; backward is an error.",
            .here = "The same eight; gradients pass.", .better = "The product has a derivative.") {
  const Tensor x = ones({2, 2}, DType::Int8);
  CHECK_THAT(error_of([&] {
               out_dtype("aten::mul_.Tensor", DType::Int32, {x, x});
             }),
             StartsWith("ValueError"));
  CHECK_THAT(error_of([&] { out_dtype("aten::neg", DType::Int32, {x}); }),
             StartsWith("ValueError"));
  const Tensor w = ones({2, 2});
  set_requires_grad(w);
  CHECK(gradient(out_dtype("aten::mm", DType::Float64, {w, w}), w) == Values{4, 4, 4, 4});
}

SB_QUESTION("Do gradients pass strict_mode and hints_wrapper?",
            .pytorch = "No: backward is a RuntimeError.", .here = "Yes.",
            .better = "Both call a function, which has gradients.") {
  const Tensor x = leaf({1}), y = leaf({1});
  CHECK(gradient(strict_mode(times3, {x})[0], x) == Values{3});
  CHECK(gradient(hints_wrapper(times3, {y}, {{"level", 1}})[0], y) == Values{3});
}

SB_QUESTION(
    "Two different functions are called by invoke_subgraph with one identifier. What does a "
    "graph compute?",
    .both = "Both: functions that differ do not share a subgraph.") {
  const Program f = [](const Tensors& in) {
    return Tensors{invoke_subgraph(times2, "id", {in[0]})[0],
                   invoke_subgraph(times3, "id", {in[0]})[0]};
  };
  const Tensors r = trace(f, {numbers({1})}).run({numbers({1})});
  CHECK(values_of(r[0]) == Values{2});
  CHECK(values_of(r[1]) == Values{3});
}

SB_QUESTION("A subgraph writes to its operand, and invoke_subgraph is functionalised?",
            .both = "The operand is written to.") {
  const Program f = [](const Tensors& in) { return invoke_subgraph(writes, "id", {in[0]}); };
  check_every_way(f, [] { return Tensors{numbers({1})}; });
}

SB_QUESTION("A function throws inside of wrap_with_set_grad_enabled(false). Is grad mode on again?",
            .pytorch = "No: the thread goes on without gradients.", .here = "Yes.",
            .better = "A scope ends with exceptions, too.") {
  const auto bad = [](const Tensor&) -> Tensor { SB_THROW(ValueError, "no"); };
  CHECK(error_of([&] { wrap_with_set_grad_enabled(false, bad, {numbers({1})}); }) ==
        "ValueError: no");
  CHECK(is_grad_enabled());
}

SB_QUESTION("run_with_rng_state is given a state that is none?", .both = "An error.") {
  CHECK_THAT(error_of([] {
               run_with_rng_state(numbers({1, 2, 3}), "aten::rand", {std::vector<int64_t>{2}});
             }),
             Contains("Error: "));
}

// q::two(x, y), which adds 1 to x and multiplies y by 10.
struct Two {
  Library m{Library::Kind::Def, "q"};
  Two() {
    m.define("two(Tensor(a!) x, Tensor(b!) y) -> ()");
    m.impl("two", K::CompositeExplicitAutograd, [](const Tensor& x, const Tensor& y) {
      x += 1;
      y *= 10;
    });
  }
};

SB_QUESTION(
    "auto_functionalized is given one tensor for two arguments that the operator writes to. What "
    "does it give?",
    .pytorch =
        "Two clones, each with one of the writes: that they were one is lost without a word.",
    .here = "RuntimeError that names both, and the way to say that they are one.",
    .better = "An alias is not lost in silence.") {
  const Two two;
  const Tensor x = numbers({1, 2});
  CHECK_THAT(
      error_of([&] {
        auto_functionalized("q::two", {{"x", x}, {"y", x}});
      }),
      StartsWith("RuntimeError: higher_order::auto_functionalized: 'x' and 'y' share memory"));
}

SB_QUESTION("And auto_functionalized_v2, where both are views of one base?",
            .both = "One new base, with both writes; the tensor itself stays as it was.") {
  const Two two;
  const Tensor x = numbers({1, 2});
  const Tensors results =
      auto_functionalized_v2("q::two", {{"_x_base_index", 0}, {"_y_base_index", 0}}, {x});
  REQUIRE(results.size() == 1);
  CHECK(values_of(results[0]) == Values{20, 30});
  CHECK(values_of(x) == Values{1, 2});
}

}  // namespace
}  // namespace sb::questions
