#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/switch.h"

namespace sb::test {
namespace {

using Values = std::vector<IValue>;

Values plus_and_three(const Tensors& in) { return {in[0] + 1, 3, IValue()}; }
Values minus_and_five(const Tensors& in) { return {in[0] - 1, 5, IValue()}; }
Values only_one(const Tensors& in) { return {in[0] + 1}; }
Values a_float(const Tensors& in) { return {in[0] + 1, 0.5, IValue()}; }

TEST_CASE("branches give numbers and None beside tensors") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy));
  const Tensor x = make({1}, {10});
  const Values yes = cond_values(make.pred(true), plus_and_three, minus_and_five, {x});
  CHECK(numbers_in(yes[0].to_tensor()) == Numbers{11});
  CHECK(yes[1].to_int() == 3);
  CHECK(yes[2].is_None());
  const Values no = cond_values(make.pred(false), plus_and_three, minus_and_five, {x});
  CHECK(no[1].to_int() == 5);
}

TEST_CASE("a switch takes as many such branches as there are") {
  const Values last =
      switch_values(tensor_of({}, {2}, DType::Int64), {plus_and_three, minus_and_five, a_float},
                    {tensor_of({1}, {1})});
  CHECK(last[1].to_double() == 0.5);
}

TEST_CASE("in a fake mode with symbols the number is one, and without them it is refused by name") {
  FakeTensorMode symbols({.shape_env = ShapeEnv::create()});
  const auto call = [](FakeTensorMode& mode) {
    return cond_values(mode.from_tensor(tensor_of({}, {1}, DType::Bool)), plus_and_three,
                       minus_and_five, {mode.from_tensor(tensor_of({1}, {1}))});
  };
  const Values results = call(symbols);
  CHECK(results[1].is_SymInt());
  CHECK(results[2].is_None());
  FakeTensorMode plain;
  CHECK_THROWS_AS(call(plain), DataDependentOutputError);
}

TEST_CASE("a trace, in which the number would be burnt in, refuses it") {
  const auto f = [](const Tensors& in) {
    const Values r = cond_values(in[0], plus_and_three, minus_and_five, {in[1]});
    return Tensors{r[0].to_tensor() * Scalar(r[1].to_sym_int())};
  };
  CHECK_THROWS_AS(trace(f, {tensor_of({}, {1}, DType::Bool), tensor_of({1}, {1})}),
                  DataDependentOutputError);
}

TEST_CASE("in a trace with symbols the number is one, which each run takes from its branch") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const auto f = [](const Tensors& in) {
    const Values r = cond_values(in[0], plus_and_three, minus_and_five, {in[1]});
    return Tensors{r[0].to_tensor() * Scalar(r[1].to_sym_int())};
  };
  const Tensor yes = tensor_of({}, {1}, DType::Bool), no = tensor_of({}, {0}, DType::Bool);
  const Tensor x = tensor_of({2}, {10, 20});
  const Graph graph = trace(f, fake.from_tensors({yes, x}));
  CHECK(numbers_in(graph.run({yes, x})[0]) == Numbers{33, 63});
  CHECK(numbers_in(graph.run({no, x})[0]) == Numbers{45, 95});
}

TEST_CASE("branches give values of the same kinds") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor pred = fake.from_tensor(tensor_of({}, {1}, DType::Bool));
  const Tensor x = fake.from_tensor(tensor_of({1}, {1}));
  CHECK(message([&] { cond_values(pred, plus_and_three, only_one, {x}); }) ==
        "RuntimeError: higher_order::cond: false_fn: expected 3 results, got 1");
  CHECK(message([&] { cond_values(pred, plus_and_three, a_float, {x}); }) ==
        "RuntimeError: higher_order::cond: false_fn: result 1: expected an int, as of the other "
        "function, got a float");
  CHECK(message([&] {
          cond_values(tensor_of({}, {1}, DType::Bool),
                      [](const Tensors&) { return Values{"text"}; }, only_one, {});
        }) ==
        "TypeError: higher_order::cond: true_fn: result 0: expected a tensor, an int, a float or a "
        "bool, got String");
}

}  // namespace
}  // namespace sb::test
