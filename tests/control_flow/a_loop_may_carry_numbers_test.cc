#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

using Catch::Matchers::StartsWith;
using Values = std::vector<IValue>;

// x * 2^n, and n: in[0] counts, in[1] is x.
Values doubled(int64_t n, const Tensor& x) {
  return while_loop_values([n](const Values& in) { return IValue(in[0].to_sym_int() < n); },
                           [](const Values& in) {
                             return Values{in[0].to_sym_int() + 1, in[1].to_tensor() * 2};
                           },
                           {0, x});
}

TEST_CASE("a loop carries numbers beside tensors") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy));
  const Values results = doubled(3, make({2}, {1, 2}));
  CHECK(results[0].to_int() == 3);
  CHECK(numbers_in(results[1].to_tensor()) == Numbers{8, 16});
}

TEST_CASE("each kind of number stays what it is") {
  const Values results = while_loop_values([](const Values& in) { return in[2]; },
                                           [](const Values& in) {
                                             const int64_t i = in[0].to_int() + 1;
                                             return Values{i, in[1].to_double() / 2, i < 3};
                                           },
                                           {0, 1.0, true});
  CHECK(results[0].to_int() == 3);
  CHECK(results[1].to_double() == 0.125);
  CHECK(results[2].to_bool() == false);
}

TEST_CASE("a loop of no trip gives the numbers that it got") {
  const Values results = doubled(0, tensor_of({1}, {1}));
  CHECK(results[0].to_int() == 0);
}

TEST_CASE("the additional inputs stand behind what is carried, and a tensor may be the condition") {
  const Values results = while_loop_values(
      [](const Values& in) { return IValue(in[1].to_tensor() < in[2].to_tensor()); },
      [](const Values& in) {
        return Values{in[0].to_int() * 2, in[1].to_tensor() + 1};
      },
      {1, tensor_of({}, {0})}, {tensor_of({}, {5})});
  CHECK(results[0].to_int() == 32);
}

TEST_CASE("in a fake mode with symbols a carried number is one, and so is what comes out") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Values results = doubled(3, fake.from_tensor(tensor_of({2}, {1, 2})));
  CHECK(results[0].is_SymInt());
  CHECK(results[1].to_tensor().sizes() == Sizes{2});
}

TEST_CASE("where one run stands for all trips, a number without symbol is refused") {
  FakeTensorMode plain;
  const Tensor x = plain.from_tensor(tensor_of({2}, {1, 2}));
  CHECK_THROWS_AS(doubled(3, x), DataDependentOutputError);
}

TEST_CASE("a trace, in which a number of one trip would be burnt in, refuses it") {
  const auto f = [](const Tensors& in) { return Tensors{doubled(3, in[0])[1].to_tensor()}; };
  CHECK_THROWS_AS(trace(f, {tensor_of({2}, {1, 2})}), DataDependentOutputError);
}

TEST_CASE("in a trace with symbols the number is one, which is another in each trip of a run") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor x = tensor_of({2}, {1, 2});
  const auto f = [](const Tensors& in) {
    const Values results = doubled(3, in[0]);
    return Tensors{results[1].to_tensor() + Scalar(results[0].to_sym_int())};
  };
  const Graph graph = trace(f, {fake.from_tensor(x)});
  CHECK(text_of(graph.run({x})) == text_of(f({x})));
}

// A number whose data the active fake mode knows.
Tensor known(double value) {
  static const OperatorHandle op = default_dispatcher().find_op_or_throw("aten::lift_fresh");
  Stack stack{tensor_of({}, {value}, DType::Int64)};
  op.call_boxed(&stack);
  return stack[0].to_tensor();
}

TEST_CASE("what a fake mode knows of a number before the loop, it does not know in a trip") {
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(tensor_of({2}, {1, 2}));
  const FakeTensorModeGuard active(fake);
  const Tensor zero = known(0);
  CHECK(IValue(item(zero)).to_int() == 0);
  const auto more = [](const Tensor& i, const Tensor&) { return i < 3; };
  const auto by_number = [](const Tensor& i, const Tensor& t) {
    return Tensors{i + 1, t * item(i)};
  };
  CHECK_THROWS_AS(while_loop(more, by_number, {zero, x}), DataDependentOutputError);
  const auto reset = [](const Tensor&, const Tensor& t) { return Tensors{known(5), t}; };
  CHECK_THROWS_AS(item(while_loop(more, reset, {zero, x})[0]), DataDependentOutputError);
}

TEST_CASE("nor does it know of one step of a scan, or of one branch, what holds for another") {
  FakeTensorMode fake;
  const Tensor rows = fake.from_tensor(tensor_of({2}, {1, 2}, DType::Int64));
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  const FakeTensorModeGuard active(fake);
  const auto step = [](const Tensor& sum, const Tensor& row) {
    return Tensors{sum + row, row * item(sum)};
  };
  CHECK_THROWS_AS(scan(step, {known(0)}, {rows}), DataDependentOutputError);
  const auto three = [](const Tensor&) { return known(3); };
  const auto five = [](const Tensor&) { return known(5); };
  CHECK_THROWS_AS(item(cond(pred, three, five, {rows})[0]), DataDependentOutputError);
}

TEST_CASE("what is carried is a tensor or a number, and stays of its kind") {
  const auto never = [](const Values&) { return IValue(false); };
  const auto always = [](const Values&) { return IValue(true); };
  const auto same = [](const Values& in) { return in; };
  CHECK(message([&] { while_loop_values(never, same, {"text"}); }) ==
        "TypeError: higher_order::while_loop: carried_inputs 0: expected a tensor, an int, a float "
        "or a bool, got String");
  CHECK(
      message([&] { while_loop_values(always, [](const Values&) { return Values{0.5}; }, {1}); }) ==
      "RuntimeError: higher_order::while_loop: body_fn: result 0: expected an int, as it took, "
      "got a float");
  CHECK(message([&] { while_loop_values(always, [](const Values&) { return Values{}; }, {1}); }) ==
        "RuntimeError: higher_order::while_loop: body_fn: expected 1 results, as many as are "
        "carried, got 0");
  CHECK_THAT(
      message([&] { while_loop_values([](const Values&) { return IValue(3); }, same, {1}); }),
      StartsWith("TypeError: higher_order::while_loop: cond_fn: result: expected a bool"));
}

}  // namespace
}  // namespace sb::test
