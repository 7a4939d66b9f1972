// Branches and loops that write, hand back what they were given, or do not run.

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/questions/every_way.h"
#include "switchboard/tests/questions/programs.h"
#include "switchboard/tests/questions/question.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/control_flow/while_loop.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::questions {
namespace {

Tensor plus1(const Tensor& x) { return x + 1; }
Tensor times2(const Tensor& x) { return x * 2; }
Tensor times3(const Tensor& x) { return x * 3; }
Tensor writes(const Tensor& x) {
  add_Scalar_(x, 1);
  return x * 1;
}
// [[1], [1], ...]
Tensor rows(int64_t n) { return ones({n, 1}); }

SB_QUESTION(
    "A branch writes to its operand and is not taken. What do eager runs, functionalisation "
    "and a trace do?",
    .pytorch =
        "Eagerly nothing is written. Functionalised by the Python mode neither; the "
        "trace holds a branch that writes.",
    .here = "Nothing is written, in any of them, and the graph writes if the branch runs.",
    .better = "All three are the program.") {
  const Program f = [](const Tensors& in) { return cond(in[0], writes, times2, {in[1]}); };
  check_every_way(f, [] { return Tensors{truth(false), numbers({1})}; });
  check_every_way(f, [] { return Tensors{truth(true), numbers({1})}; });
  const Tensor x = numbers({1});
  f({truth(false), x});
  CHECK(values_of(x) == Values{1});
}

SB_QUESTION("A branch that writes to its operand gets one that autograd derives. What happens?",
            .pytorch = "RuntimeError about a leaf, which the operand is not.",
            .here = "It writes, and the gradient is right.",
            .better = "It is what the branch does without cond.") {
  const Tensor x = leaf({1}), y = x * 1;
  const Tensor z = cond(truth(true),
                        [](const Tensor& t) {
                          mul_Scalar_(t, 5);
                          return t * 2;
                        },
                        times2, {y})[0];
  CHECK(values_of(y) == Values{5});
  CHECK(gradient(z, x) == Values{10});
}

SB_QUESTION("A branch returns its operand, or a view of it. What is the result?",
            .pytorch = "Eagerly that tensor; functionalised, RuntimeError: it might be aliasing.",
            .here = "That tensor, in both.",
            .better = "A program that hands something through may be functionalised.") {
  const Program same = [](const Tensors& in) {
    return cond(in[0], [](const Tensor& x) { return x; }, times2, {in[1]});
  };
  const Tensor x = numbers({1});
  CHECK(same({truth(true), x})[0].is_same(x));
  check_every_way(same, [] { return Tensors{truth(true), numbers({1})}; });
}

SB_QUESTION(
    "And the result is written to. Does the operand have the write?",
    .pytorch =
        "Eagerly and in a graph yes; functionalised it is refused, whatever is done "
        "with the result.",
    .here =
        "Yes, in each; a graph of the functionalised program, whose predicate may be "
        "another one when it runs, is refused if the operand is read after the write.",
    .better = "An alias is not lost by a layer, and only what nobody can know is refused.") {
  const Program f = [](const Tensors& in) {
    const Tensor y = in[1] * 1;
    const Tensor r = cond(in[0], [](const Tensor& x) { return x; }, times2, {y})[0];
    add_Scalar_(r, 10);
    return Tensors{y};
  };
  CHECK(values_of(f({truth(true), numbers({1})})[0]) == Values{11});
  check_every_way(f, [] { return Tensors{truth(true), numbers({1})}; });
  check_every_way(f, [] { return Tensors{truth(false), numbers({1})}; });
}

SB_QUESTION(
    "One tensor is given as two operands, of which a branch writes to one and returns the "
    "other?",
    .pytorch =
        "Eagerly the branch sees one tensor. Functionalised it sees two, and the "
        "program gives another result, without a word.",
    .here = "It sees one tensor, in both.", .better = "No layer changes a result.") {
  const Program f = [](const Tensors& in) {
    const auto body = [](const Tensor& a, const Tensor& b) {
      add_Scalar_(a, 1);
      return b * 1;
    };
    const Tensor y = in[1] * 1;
    return Tensors{cond(in[0], body, body, {y, y})[0], y};
  };
  CHECK(values_of(f({truth(true), numbers({1})})[0]) == Values{2});
  check_every_way(f, [] { return Tensors{truth(true), numbers({1})}; });
}

SB_QUESTION("One tensor is given as two operands: is its gradient the sum?", .both = "Yes.") {
  const Tensor x = leaf({1});
  const auto f = [](const Tensor& a, const Tensor& b) { return a * 2 + b * 3; };
  CHECK(gradient(cond(truth(true), f, f, {x, x})[0], x) == Values{5});
}

SB_QUESTION("What may a predicate be?",
            .pytorch =
                "Anything that has a truth: numbers, None, strings, one element of any "
                "dtype, of which not-a-number is true.",
            .here = "A bool, or one element of any dtype, likewise; RuntimeError otherwise.",
            .better = "What has no truth in C++ is no predicate.") {
  for (const Tensor& p : {ones({2}, DType::Bool), ones({0}, DType::Bool)})
    CHECK_THAT(error_of([&] { cond(p, plus1, times2, {numbers({1})}); }),
               StartsWith("RuntimeError: higher_order::cond"));
  for (const Tensor& p : {truth(true), numbers({2}), integer(1), numbers({std::nan("")})})
    CHECK(values_of(cond(p, plus1, times2, {numbers({1})})[0]) == Values{2});
}

SB_QUESTION("The branches differ in how many results they have, or in dtype. When is it found?",
            .both =
                "On fake tensors and in traces; on real ones only the branch that is taken "
                "counts.") {
  const auto two = [](const Tensor& x) { return Tensors{x * 1, x * 2}; };
  const auto wide = [](const Tensor& x) { return to(x, DType::Float64); };
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(numbers({1})), p = fake.from_tensor(truth(true));
  CHECK_THAT(error_of([&] { cond(p, plus1, two, {x}); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([&] { cond(p, plus1, wide, {x}); }), StartsWith("RuntimeError"));
  CHECK(error_of([&] { cond(truth(true), plus1, two, {numbers({1})}); }) == "no error");
}

SB_QUESTION("They differ in sizes, on fake tensors without a ShapeEnv?",
            .pytorch = "AssertionError: mode.shape_env is None.",
            .here = "RuntimeError that names the result and both sizes.",
            .better = "The error says what differs.") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(numbers({1, 2})), p = fake.from_tensor(truth(true));
  CHECK_THAT(
      error_of([&] { cond(p, plus1, [](const Tensor& t) { return slice(t, 0, 0, 1) * 1; }, {x}); }),
      StartsWith("RuntimeError: higher_order::cond"));
}

SB_QUESTION("What gradient has an operand that the branch which runs does not use?",
            .both = "Zeros.") {
  const Tensor x = leaf({1}), y = leaf({1});
  const Tensor r = cond(
      truth(true), [](const Tensor& a, const Tensor&) { return a * 3; },
      [](const Tensor&, const Tensor& b) { return b * 3; }, {x, y})[0];
  backward(sum_all(r));
  CHECK(values_of(grad_of(x)) == Values{3});
  CHECK((!grad_of(y).defined() || values_of(grad_of(y)) == Values{0}));
}

SB_QUESTION(
    "A branch uses a tensor that requires a gradient without having been given it. Does it "
    "get one?",
    .pytorch =
        "If no operand requires one, the result does not either: the gradient is "
        "lost without a word. Otherwise an AssertionError about fake tensors.",
    .here = "Yes.", .better = "Where a tensor comes from does not matter to calculus.") {
  const Tensor w = leaf({2});
  const auto uses = [&](const Tensor& x) { return x * w; };
  const Tensor r = cond(truth(true), uses, times2, {numbers({3})})[0];
  REQUIRE(requires_grad(r));
  CHECK(gradient(r, w) == Values{3});
}

SB_QUESTION("And the body of a loop, or of map?",
            .pytorch = "The same: lost, or an AssertionError.", .here = "Yes.",
            .better = "The same.") {
  const Tensor w = leaf({2});
  const Tensor r = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                              [&](const Tensor& i, const Tensor& x) {
                                return Tensors{i + 1, x * w};
                              },
                              {integer(0), numbers({1})})[1];
  CHECK(gradient(r, w) == Values{12});
  const Tensor v = leaf({2});
  CHECK(gradient(map([&](const Tensor& x) { return x * v; }, {rows(2)})[0], v) == Values{2});
}

SB_QUESTION("Is the gradient of a branch derived again?",
            .pytorch = "No: with create_graph the first gradient does not require one.",
            .here = "Yes, to any order.", .better = "Second gradients are those of the branch.") {
  const Tensor x = leaf({2});
  const Tensor y = cond(truth(true), [](const Tensor& t) { return t * t * t; }, times2, {x})[0];
  const Tensor first = grad({sum_all(y)}, {x}, {}, {.create_graph = true})[0];
  CHECK(values_of(first) == Values{12});
  CHECK(values_of(grad({sum_all(first)}, {x})[0]) == Values{12});
}

SB_QUESTION("And of a loop: what is the second derivative of squaring 2 twice?",
            .pytorch = "16, without a word.", .here = "48.", .better = "12 x^2 is 48.") {
  const Tensor x = leaf({2});
  const Tensor y = while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                              [](const Tensor& i, const Tensor& t) {
                                return Tensors{i + 1, t * t};
                              },
                              {integer(0), x})[1];
  const Tensor first = grad({sum_all(y)}, {x}, {}, {.create_graph = true})[0];
  CHECK(values_of(first) == Values{32});
  CHECK(values_of(grad({sum_all(first)}, {x})[0]) == Values{48});
}

SB_QUESTION("A branch draws random numbers. Is its gradient that of the numbers it drew?",
            .pytorch = "No: backward draws others, so that the gradient belongs to another result.",
            .here = "Yes.", .better = "The gradient is that of the result at hand.") {
  const Tensor x = leaf({1});
  const Tensor y =
      cond(truth(true), [](const Tensor& t) { return t * rand_like(t); }, times2, {x})[0];
  CHECK(gradient(y, x) == values_of(y));
}

SB_QUESTION("A branch throws. What is left of it?",
            .both = "Nothing: grad mode, modes and keys are as before.") {
  const auto bad = [](const Tensor&) -> Tensor { SB_THROW(ValueError, "no"); };
  const DispatchKeySet before = dispatch_tls.excluded();
  CHECK(error_of([&] { cond(truth(true), bad, times2, {leaf({1})}); }) == "ValueError: no");
  CHECK(dispatch_tls.excluded() == before);
  CHECK(is_grad_enabled());
}

SB_QUESTION("And the branch that is not taken, where gradients are recorded?",
            .pytorch = "Its exception comes out: both branches are traced for the backward.",
            .here = "It does not run.", .better = "A branch guards against what would fail.") {
  const auto bad = [](const Tensor&) -> Tensor { SB_THROW(ValueError, "no"); };
  const Tensor x = leaf({1});
  CHECK(gradient(cond(truth(false), bad, times2, {x})[0], x) == Values{2});
}

SB_QUESTION(
    "An opaque operator without a gradient is in the branch that is not taken. Is backward "
    "an error?",
    .pytorch = "Yes.", .here = "No; it is if that branch is taken.",
    .better = "Only what ran is derived.") {
  const CustomOp op = custom_op("q::f", [](const Tensor& x) {
                        return x * 3;
                      }).register_fake([](const Tensor& x) { return empty_like(x); });
  const auto uses = [&](const Tensor& x) { return op(x); };
  const Tensor x = leaf({1});
  CHECK(gradient(cond(truth(false), uses, times2, {x})[0], x) == Values{2});
  const Tensor y = cond(truth(true), uses, times2, {x})[0];
  CHECK_THAT(error_of([&] { gradient(y, x); }), StartsWith("RuntimeError") && Contains("q::f"));
}

SB_QUESTION("A loop makes no trip. Are the results the inputs, and what is their gradient?",
            .pytorch =
                "They are copies. The gradient is that of one trip (2 of a body that "
                "doubles), without a word.",
            .here = "They are copies, and the gradient is 1.",
            .better = "The gradient is that of what ran.") {
  const Tensor x = leaf({1});
  const Tensor r = while_loop([](const Tensor& t) { return sum_all(t) < 0; }, times2, {x})[0];
  CHECK_FALSE(r.is_same(x));
  CHECK(gradient(r, x) == Values{1});
}

SB_QUESTION("The body hands back its input, or two inputs swapped?",
            .pytorch =
                "Eagerly they are the results; functionalised, RuntimeError: the body might "
                "be aliasing.",
            .here = "They are the results, in both.", .better = "It is an ordinary loop.") {
  const Program f = [](const Tensors& in) {
    return while_loop([](const Tensor& i, const Tensor&, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& a, const Tensor& b) {
                        return Tensors{i + 1, b, a};
                      },
                      {in[0], in[1], in[2]});
  };
  CHECK(values_of(f({integer(0), numbers({1}), numbers({2})})[1]) == Values{2});
  const std::string eager = outcome(f, {integer(0), numbers({1}), numbers({2})});
  CHECK(outcome(functionalize(f), {integer(0), numbers({1}), numbers({2})}) == eager);
}

SB_QUESTION("The body of a loop writes to what it carries?",
            .pytorch =
                "Eagerly the first write changes the input, the others what the body made. "
                "Functionalised it is refused.",
            .here = "Eagerly the same. Functionalised it is refused by name, or the same.",
            .better = "The error names the function.") {
  const Program f = [](const Tensors& in) {
    return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& x) {
                        return Tensors{i + 1, writes(x)};
                      },
                      {in[0], in[1]});
  };
  const std::string eager = outcome(f, {integer(0), numbers({1})});
  CHECK_THAT(eager, StartsWith("3") && Contains("4.0"));
  const std::string functional = outcome(functionalize(f), {integer(0), numbers({1})});
  if (functional != eager) CHECK_THAT(functional, Contains("Error: higher_order::while_loop"));
}

SB_QUESTION("The body adds to a tensor that it was not given. How often, in a trace and its graph?",
            .pytorch =
                "In a run three times for three trips. The trace adds twice more by itself, "
                "and leaves that in the tensor.",
            .here = "As often as trips are made; a trace that cannot keep that refuses.",
            .better = "Tracing a program does what a run of it does.") {
  const Tensor sum = numbers({0});
  const Program f = [&](const Tensors& in) {
    return while_loop([](const Tensor& i) { return i < 3; },
                      [&](const Tensor& i) {
                        add_Scalar_(sum, 1);
                        return i + 1;
                      },
                      {in[0]});
  };
  f({integer(0)});
  CHECK(values_of(sum) == Values{3});
  Graph graph;
  const std::string traced = error_of([&] { graph = trace(f, {integer(0)}); });
  if (traced == "no error") {
    CHECK(values_of(sum) == Values{6});
    graph.run({integer(0)});
    CHECK(values_of(sum) == Values{9});
  } else {
    CHECK_THAT(traced, Contains("higher_order::while_loop"));
    CHECK(values_of(sum) == Values{3});
  }
}

SB_QUESTION(
    "What may the condition of a loop give?",
    .pytorch =
        "A bool, or one bool tensor without dimensions; RuntimeError for numbers, for a "
        "list of more, and for a tensor of one dimension.",
    .here = "The same errors. while_loop takes the tensor, and while_loop_values a bool, too.",
    .better =
        "Functions of tensors make a bool of data only by reading them, which no trace "
        "keeps; where numbers are carried, a bool is one of them.") {
  const auto loop = [](const std::function<Tensors(const Tensors&)>& condition) {
    return error_of(
        [&] { while_loop(condition, [](const Tensor& i) { return i + 1; }, {integer(0)}); });
  };
  CHECK_THAT(loop([](const Tensors&) { return Tensors{ones({1}, DType::Bool)}; }),
             StartsWith("RuntimeError: higher_order::while_loop"));
  CHECK_THAT(loop([](const Tensors&) { return Tensors{integer(1)}; }),
             StartsWith("RuntimeError: higher_order::while_loop"));
  CHECK_THAT(loop([](const Tensors&) {
               return Tensors{truth(true), truth(true)};
             }),
             StartsWith("RuntimeError: higher_order::while_loop"));
  const std::vector<IValue> end = while_loop_values(
      [](const std::vector<IValue>& in) { return IValue(in[0].to_int() < 3); },
      [](const std::vector<IValue>& in) { return std::vector<IValue>{in[0].to_int() + 1}; }, {0});
  CHECK(end[0].to_int() == 3);
}

SB_QUESTION("The condition of a loop writes to what is carried?",
            .both = "The loop goes on with what it wrote; the input has the first write.") {
  const Tensor x = integer(0);
  const Tensor r = while_loop(
      [](const Tensor& i) {
        add_Scalar_(i, 1);
        return i < 5;
      },
      [](const Tensor& i) { return i + 1; }, {x})[0];
  CHECK(values_of(r) == Values{5});
  CHECK(values_of(x) == Values{1});
}

SB_QUESTION("What is carried changes its dtype or its size from trip to trip, on real tensors?",
            .pytorch = "The loop goes on with it; a trace or fake tensors refuse it.",
            .here = "Sizes may; for a dtype, RuntimeError that names the result and both.",
            .better = "A dtype that changes is a slip: x + 1.5 in place of x + 1.") {
  const auto loop = [](auto body) {
    return error_of([&] {
      while_loop([](const Tensor& i, const Tensor&) { return i < 2; }, body,
                 {integer(0), numbers({1})});
    });
  };
  CHECK_THAT(loop([](const Tensor& i, const Tensor& x) {
               return Tensors{i + 1, to(x, DType::Float64)};
             }),
             StartsWith("RuntimeError: higher_order::while_loop"));
  CHECK(loop([](const Tensor& i, const Tensor& x) {
          return Tensors{i + 1, cat(Tensors{x, x})};
        }) == "no error");
}

SB_QUESTION("map over no slices?", .both = "RuntimeError: nobody knows what the function gives.") {
  CHECK_THAT(error_of([] { map(times2, {rows(0)}); }),
             StartsWith("RuntimeError: higher_order::map"));
}

SB_QUESTION("scan over no slices?",
            .both =
                "The initial carry, and empty tensors of the shape that tracing the function "
                "shows. (The operator itself refuses it, here and there.)") {
  const Tensors r = scan(
      [](const Tensor& c, const Tensor& x) {
        return Tensors{c + x, c * x};
      },
      {numbers({1})}, {rows(0)});
  CHECK(values_of(r[0]) == Values{1});
  CHECK(r[1].sizes() == test::Sizes{0, 1});
}

SB_QUESTION("The function of map writes to its slices. Are the xs written to?",
            .pytorch = "Eagerly yes; functionalised, RuntimeError.",
            .here = "Eagerly yes; functionalised the same or refused by name.",
            .better = "The error names the function.") {
  const Program f = [](const Tensors& in) { return map(writes, {in[0]}); };
  const Tensor xs = rows(2);
  f({xs});
  CHECK(values_of(xs) == Values{2, 2});
  const std::string eager = outcome(f, {rows(2)}),
                    functional = outcome(functionalize(f), {rows(2)});
  if (functional != eager) CHECK_THAT(functional, Contains("Error: higher_order::map"));
}

SB_QUESTION("The carry of a scan changes its size or dtype?",
            .pytorch = "Eagerly the operator goes on with it.",
            .here = "RuntimeError that names the result.",
            .better = "A scan means the same eagerly and as a graph.") {
  CHECK_THAT(error_of([] {
               scan(
                   [](const Tensor& c, const Tensor& x) {
                     return Tensors{cat(Tensors{c, x}), x * 1};
                   },
                   {numbers({1})}, {rows(2)});
             }),
             StartsWith("RuntimeError: higher_order::scan"));
}

SB_QUESTION("scan hands back the carry and the slice as they are. What comes out?",
            .pytorch = "By the operator copies; the function `scan` refuses it.",
            .here = "Copies of the slices, and the carry.", .better = "There is one answer.") {
  const Tensors r = scan(
      [](const Tensor& c, const Tensor& x) {
        return Tensors{c, x};
      },
      {numbers({5})}, {rows(2)});
  CHECK(values_of(r[0]) == Values{5});
  CHECK(values_of(r[1]) == Values{1, 1});
}

SB_QUESTION("Are second derivatives of a scan those of a loop?",
            .pytorch = "No: RuntimeError that the input was not used.", .here = "Yes.",
            .better = "c*c*x twice is 36 c^4 at x = 3, 4: 1152 and 1728 at c = 2.") {
  const Tensor c = leaf({2}), xs = test::tensor_of({2, 1}, {3, 4});
  const Tensors r = scan(
      [](const Tensor& a, const Tensor& x) {
        return Tensors{a * a * x, a + x};
      },
      {c}, {xs});
  const Tensor first = grad({sum_all(r[0])}, {c}, {}, {.create_graph = true})[0];
  CHECK(values_of(first) == Values{1152});
  CHECK(values_of(grad({sum_all(first)}, {c})[0]) == Values{1728});
}

SB_QUESTION("associative_scan with a function that is not associative: 1 to 5 subtracted?",
            .pytorch = "1, -1, -4, 0, -5: pairs are combined first, and pairs of those.",
            .here = "1, -1, -4, -8, -13: the order of a loop.",
            .better =
                "Each result is what its definition says: all slices so far, from the left. The "
                "caller promises that the order does not matter, and here it does not.") {
  const Tensor x = test::tensor_of({5, 1}, {1, 2, 3, 4, 5});
  const auto minus = [](const Tensor& a, const Tensor& b) { return a - b; };
  CHECK(values_of(associative_scan(minus, {x})[0]) == Values{1, -1, -4, -8, -13});
}

SB_QUESTION("The function of associative_scan writes to its arguments, five rows of 1?",
            .pytorch = "It writes, in the order of pairs: the input is 2, 1, 2, 1, 1 then.",
            .here = "It writes, in the order of a loop: the input is 2, 1, 1, 1, 1 then.",
            .better = "Who reads the function as a loop is right.") {
  const Tensor x = rows(5);
  const Tensor r =
      associative_scan([](const Tensor& a, const Tensor& b) { return writes(a) + b; }, {x})[0];
  CHECK(values_of(r) == Values{2, 4, 6, 8, 9});
  CHECK(values_of(x) == Values{2, 1, 1, 1, 1});
}

SB_QUESTION("The index of a switch is negative or too high?",
            .pytorch = "switch() clamps it; the operator itself is an AssertionError.",
            .here = "switch_on() clamps it; the operator itself is an IndexError.",
            .better = "The kind of the error is that of an index.") {
  const Tensors x{numbers({1})};
  CHECK(values_of(switch_on(integer(-7), branches(plus1, times2, times3), x)[0]) == Values{2});
  CHECK(values_of(switch_on(integer(9), branches(plus1, times2, times3), x)[0]) == Values{3});
  CHECK_THAT(error_of([&] {
               switch_op()({integer(9), branches(plus1, times2), x});
             }),
             StartsWith("IndexError: higher_order::switch"));
}

SB_QUESTION("A switch without branches, or by a float?",
            .pytorch = "AssertionError; the float is taken for the integer.",
            .here = "RuntimeError for both.", .better = "What is no index is refused.") {
  CHECK_THAT(error_of([] { switch_on(integer(0), {}, {}); }), StartsWith("RuntimeError"));
  CHECK_THAT(error_of([] { switch_on(numbers({1}), branches(plus1, times2), {numbers({1})}); }),
             StartsWith("RuntimeError"));
}

}  // namespace
}  // namespace sb::questions
