#include "switchboard/transforms/control_flow/while_loop.h"

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensor below_ten(const Tensor& i, const Tensor&) { return i < 10; }
Tensors step(const Tensor& i, const Tensor& x) { return {i + 3, x * 2}; }

// Doubles in[1] as often as in[0] takes steps of 3 to reach 10.
Tensors doubled(const Tensors& in) { return while_loop(below_ten, step, in); }

TEST_CASE("while_loop replaces the carried tensors as long as the condition holds") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensors inputs{make({}, {0}), make({2}, {1, 2})};
  const std::string text = run_all_ways(doubled, inputs);
  if (make.has_data())
    CHECK(text == str_cat(inputs[0].describe(), " {12}; ", inputs[1].describe(), " {16, 32}"));
  else
    CHECK(text == "float32[] on cuda:0; float32[2] on cuda:0");
}

TEST_CASE("a loop whose condition never holds gives its inputs") {
  const Tensors inputs{tensor_of({}, {10}), tensor_of({1}, {1})};
  const Tensors results = doubled(inputs);
  CHECK_FALSE(results[0].is_alias_of(inputs[0]));
  CHECK_FALSE(results[1].is_alias_of(inputs[1]));
  CHECK(run_all_ways(doubled, inputs) == "float32[] on cpu {10}; float32[1] on cpu {1}");
  // The inputs are still the inputs afterwards, whatever the loop makes of others.
  const Graph g = trace(
      [](const Tensors& in) {
        doubled(in);
        return Tensors{in[1] + 0};
      },
      inputs);
  CHECK(text_of(g.run({tensor_of({}, {0}), inputs[1]})) == "float32[1] on cpu {1}");
}

TEST_CASE("a graph of while_loop has the condition and the body, and loops as its inputs say") {
  const Maker make(GENERATE(Place::Cpu, Place::Fake));
  const Graph g = trace(doubled, {make({}, {7}), make({1}, {1})}, {.input_names = {"i", "x"}});
  std::string text = g.to_string();
  for (size_t at; (at = text.find(" on cuda:0")) != std::string::npos;) text.erase(at, 10);
  CHECK(text ==
        "graph(i: float32[], x: float32[1]):\n"
        "  while_loop = while_loop(while_loop_cond_graph, while_loop_body_graph, [i, x], [])\n"
        "  getitem = while_loop[0]\n"
        "  getitem_1 = while_loop[1]\n"
        "  return (getitem, getitem_1)\n"
        "\n"
        "while_loop_cond_graph(arg0: float32[], arg1: float32[1]):\n"
        "  lt = aten::lt.Scalar(arg0, 10)\n"
        "  return (lt,)\n"
        "\n"
        "while_loop_body_graph(arg0: float32[], arg1: float32[1]):\n"
        "  add = aten::add.Scalar(arg0, 3)\n"
        "  mul = aten::mul.Scalar(arg1, 2)\n"
        "  return (add, mul)\n");
  for (const double start : {10, 7, 4, -200}) {
    const Tensors inputs{tensor_of({}, {start}), tensor_of({1}, {1})};
    CHECK(text_of(g.run(inputs)) == text_of(doubled(inputs)));
  }
}

TEST_CASE("the operator's additional inputs are given to both functions and stay the same") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Program f = [](const Tensors& in) {
    const std::vector<IValue> results = while_loop_op()(
        {tensor_callable("c", [](const Tensor& i, const Tensor& end) { return i < end; }),
         tensor_callable("b", [](const Tensor& i, const Tensor& end) { return i + end; }),
         Tensors{in[0]}, Tensors{in[1]}});
    CHECK(results.size() == 1);
    return Tensors{results[0].to_tensor()};
  };
  const std::string text = run_all_ways(f, {make({}, {-5}), make({}, {3})});
  if (make.has_data()) CHECK_THAT(text, Contains("{4}"));
}

TEST_CASE("a loop on meta tensors has no condition to read") {
  const Maker make(Place::Meta);
  CHECK_THAT(message([&] {
               doubled({make({}, {0}), make({1}, {1})});
             }),
             Contains("NotImplementedError: higher_order::while_loop: cond_fn: ") &&
                 Contains("depends on the data"));
  // Where the condition is elsewhere there is nothing to miss.
  CHECK(run_all_ways(doubled, {tensor_of({}, {0}), make({2}, {1, 2})}) ==
        "float32[] on cpu {12}; float32[2] on meta");
}

TEST_CASE("what the body gives must be like what it took, eager and traced and fake") {
  struct Case {
    std::function<Tensors(const Tensor&, const Tensor&)> body;
    std::string error;
  };
  const std::vector<Case> cases{
      {[](const Tensor& i, const Tensor&) { return Tensors{i + 1}; },
       "expected 2 results, as many as the carried inputs, got 1"},
      {[](const Tensor& i, const Tensor& x) {
         return Tensors{i + 1, x, x};
       },
       "expected 2 results, as many as the carried inputs, got 3"},
      {[](const Tensor& i, const Tensor& x) {
         return Tensors{i < 1, x};
       },
       "result 0: expected float32[] on DEVICE, as of the carried inputs, got bool[] on DEVICE"},
  };
  const Place place = GENERATE(Place::Cpu, Place::Dummy, Place::Fake);
  const Maker make(place);
  const Tensors inputs{make({}, {0}), make({2}, {1, 2})};
  const std::string why = "; a graph, and fake tensors, stand for whatever the data say";
  for (const Case& c : cases) {
    const Program f = [&](const Tensors& in) {
      return while_loop(
          below_ten, [&](const Tensor& i, const Tensor& x) { return c.body(i, x); }, in);
    };
    std::string expected = str_cat("RuntimeError: higher_order::while_loop: body_fn: ", c.error);
    for (size_t at; (at = expected.find("DEVICE")) != std::string::npos;)
      expected.replace(at, 6, to_string(inputs[0].device()));
    CHECK(message([&] { f(inputs); }) == expected + (place == Place::Fake ? why : ""));
    CHECK(message([&] { trace(f, inputs); }) == expected + why);
  }
}

TEST_CASE("sizes of what is carried may change from trip to trip, where they are no symbols") {
  const Program grow = [](const Tensors& in) {
    return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& x) {
                        return Tensors{i + 1, cat({x, x})};
                      },
                      in);
  };
  const Tensors inputs{tensor_of({}, {1}), tensor_of({1}, {3})};
  CHECK(text_of(grow(inputs)) == "float32[] on cpu {3}; float32[4] on cpu {3, 3, 3, 3}");
  set_requires_grad(inputs[1]);
  CHECK(text_of(grad({sum(grow(inputs)[1])}, {inputs[1]})[0]) == "float32[1] on cpu {4}");
  CHECK(message([&] {
          trace(grow, {inputs[0], tensor_of({1}, {3})});
        }) ==
        "RuntimeError: higher_order::while_loop: body_fn: result 1: expected float32[1] on cpu, as "
        "of the carried inputs, got float32[2] on cpu; a graph, and fake tensors, stand for "
        "whatever the data say");
}

TEST_CASE(
    "strides of what is carried may change from turn to turn; a graph makes them contiguous") {
  const auto f = [](const Tensors& in) {
    return while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                      [](const Tensor& i, const Tensor& x) {
                        return Tensors{i + 1, transpose(x + 1, 0, 1)};
                      },
                      in);
  };
  const Tensors inputs{tensor_of({}, {0}), tensor_of({2, 2}, {1, 2, 3, 4})};
  CHECK(text_of(f(inputs)) == "float32[] on cpu {2}; float32[2, 2] on cpu {3, 4, 5, 6}");
  const Graph g = trace(f, inputs);
  CHECK(text_of(g.run(inputs)) == text_of(f(inputs)));
  const Tensors odd{tensor_of({}, {1}), inputs[1]};
  CHECK(text_of(g.run(odd)) == text_of(f(odd)));
  // Without data nobody knows which of the two they are in the end.
  const Maker fake(Place::Fake);
  CHECK_THAT(message([&] {
               f({fake({}, {0}), fake({2, 2}, {1, 2, 3, 4})});
             }),
             Contains("higher_order::while_loop: body_fn: result 1: expected float32[2, 2] on "
                      "cuda:0 with strides [1, 2], as of the first trip"));
}

TEST_CASE("in a fake mode strides are the same after the first trip as without one") {
  const Maker fake(Place::Fake);
  const auto run = [](const Tensor& x) {
    return while_loop([](const Tensor& t) { return sum(t) < 5; },
                      [](const Tensor& t) { return clone(t, MemoryFormat::Contiguous); }, {x})[0];
  };
  const Tensor x = fake({2, 3}, {1, 2, 3, 4, 5, 6});
  // Without a trip the result is a copy, dense as this one.
  CHECK(run(slice(x, 1, 0, 2)).strides() == IntArrayRef({2, 1}));
  CHECK_THAT(message([&] { run(transpose(x, 0, 1)); }),
             Contains("higher_order::while_loop: body_fn: result 0: expected float32[3, 2] on "
                      "cuda:0 with strides [1, 3], as of a loop that does not go round"));
}

TEST_CASE("the condition must be one bool tensor without dimensions") {
  struct Case {
    std::function<Tensors(const Tensor&)> condition;
    std::string error;
  };
  const std::vector<Case> cases{
      {[](const Tensor&) { return Tensors{}; }, "expected one result, got 0"},
      {[](const Tensor& x) {
         return Tensors{x < 1, x < 1};
       },
       "expected one result, got 2"},
      {[](const Tensor& x) { return Tensors{x + 1}; },
       "expected a bool tensor without dimensions, got float32[] on DEVICE"},
      {[](const Tensor& x) { return Tensors{unsqueeze(x < 1, 0)}; },
       "expected a bool tensor without dimensions, got bool[1] on DEVICE"},
  };
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Tensors inputs{make({}, {0})};
  for (const Case& c : cases) {
    const Program f = [&](const Tensors& in) {
      return while_loop([&](const Tensor& x) { return c.condition(x); },
                        [](const Tensor& x) { return x + 1; }, in);
    };
    std::string expected = str_cat("RuntimeError: higher_order::while_loop: cond_fn: ", c.error);
    if (const size_t at = expected.find("DEVICE"); at != std::string::npos)
      expected.replace(at, 6, to_string(inputs[0].device()));
    CHECK(message([&] { f(inputs); }) == expected);
    CHECK(message([&] { trace(f, inputs); }) == expected);
  }
}

TEST_CASE("wrong arguments of while_loop are errors that name them, eager, traced and fake") {
  const Tensor x = tensor_of({}, {0});
  const IValue condition = tensor_callable("c", [](const Tensor& t) { return t < 1; });
  const IValue body = tensor_callable("b", [](const Tensor& t) { return t + 1; });
  const Tensors none;
  const auto check = [&](std::vector<IValue> arguments, const std::string& expected) {
    const auto call = [&](const Tensors&) {
      while_loop_op()(arguments);
      return Tensors{};
    };
    CHECK(message([&] { call({}); }) == expected);
    CHECK(message([&] { trace(call, {}); }) == expected);
    FakeTensorMode fake;
    FakeTensorModeGuard active(fake);
    CHECK(message([&] { call({}); }) == expected);
  };
  const std::string name = "higher_order::while_loop: ";
  check({}, str_cat("TypeError: ", name, "expected 4 arguments, got 0"));
  check({x, body, Tensors{x}, none},
        str_cat("TypeError: ", name, "cond_fn: expected a Callable, got Tensor"));
  check({condition, 1, Tensors{x}, none},
        str_cat("TypeError: ", name, "body_fn: expected a Callable, got Int"));
  check({condition, body, std::vector<IValue>{1}, none},
        str_cat("TypeError: ", name, "carried_inputs: item 0: expected a tensor, got Int"));
  check({condition, body, Tensors{Tensor()}, none},
        str_cat("RuntimeError: ", name,
                "carried_inputs: item 0: expected a tensor, got an undefined one"));
  check({condition, body, Tensors{x}, 2},
        str_cat("TypeError: ", name, "additional_inputs: expected a list of tensors, got Int"));
  CHECK(message([&] { while_loop(below_ten, step, {x}); }) ==
        "TypeError: higher_order::while_loop: cond_fn: the function takes 2 tensors, got 1");
  CHECK(message([&] { while_loop([](const Tensor& t) { return t < 1; }, step, {x}); }) ==
        "TypeError: higher_order::while_loop: body_fn: the function takes 2 tensors, got 1");
}

TEST_CASE("an exception in a later turn passes through and leaves the thread as it was") {
  int turn = 0;
  const auto f = [&](const Tensors& in) {
    turn = 0;
    return while_loop(
        below_ten,
        [&](const Tensor& i, const Tensor& x) {
          if (++turn == 3) throw ValueError("the third turn");
          return step(i, x);
        },
        in);
  };
  const Tensors inputs{tensor_of({}, {0}), tensor_of({1}, {1})};
  CHECK(message([&] { f(inputs); }) == "ValueError: the third turn");
  // A trace takes one turn, and then those of the loop.
  CHECK(message([&] { trace(f, inputs); }) == "ValueError: the third turn");
  CHECK(run_all_ways(doubled, inputs) == "float32[] on cpu {12}; float32[1] on cpu {16}");
}

TEST_CASE("a loop may carry nothing but what its functions capture") {
  int turns = 0;
  const Tensors results = while_loop([&] { return full({}, turns < 3, DType::Bool); },
                                     [&] {
                                       ++turns;
                                       return Tensors{};
                                     },
                                     {});
  CHECK(results.empty());
  CHECK(turns == 3);
}

TEST_CASE("modes that only watch count what all trips call") {
  CountingMode counting;
  {
    ModeGuard guard(&counting);
    while_loop([](const Tensor& x) { return x < 3; }, [](const Tensor& x) { return x + 1; },
               {tensor_of({}, {0})});
  }
  CHECK(counting.count("higher_order::while_loop") == 1);
  CHECK(counting.count("aten::lt.Scalar") == 4);
  CHECK(counting.count("aten::add.Scalar") == 3);
}

TEST_CASE("functions take the additional inputs behind the carried ones") {
  const Maker make(GENERATE(Place::Cpu, Place::Dummy, Place::Fake));
  const Program f = [](const Tensors& in) {
    return while_loop([](const Tensor& x, const Tensor& most) { return x < most; },
                      [](const Tensor& x, const Tensor&) { return x * 2; }, {in[0]}, {in[1]});
  };
  const Tensors inputs{make({}, {3}), make({}, {20})};
  const std::string text = run_all_ways(f, inputs);
  if (make.has_data()) CHECK_THAT(text, Contains("{24}"));
}

}  // namespace
}  // namespace sb::test
