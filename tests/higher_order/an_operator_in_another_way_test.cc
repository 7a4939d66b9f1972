// out_dtype, print and the operators of random states: what they give, in every layer.

#include <functional>
#include <iostream>
#include <limits>
#include <sstream>
#include <string_view>

#include "switchboard/autograd/backward.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/auto_functionalized.h"
#include "switchboard/transforms/higher_order/foreach_map.h"
#include "switchboard/transforms/higher_order/out_dtype.h"
#include "switchboard/transforms/higher_order/print.h"
#include "switchboard/transforms/higher_order/rng_state.h"
#include "switchboard/transforms/higher_order/with_effects.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// What the function prints on standard output.
template <class F>
std::string printed(F&& f) {
  std::ostringstream out;
  struct Swap {
    std::streambuf* const before;
    ~Swap() { std::cout.rdbuf(before); }
  } const swap{std::cout.rdbuf(out.rdbuf())};
  f();
  return out.str();
}

TEST_CASE("out_dtype computes in the dtype, so that products of bytes do not overflow") {
  const Tensor x = tensor_of({2, 2}, {100, 100, 100, 100}, DType::Int8);
  CHECK(text_of(out_dtype("aten::mm", DType::Int32, {x, x})) ==
        "int32[2, 2] on cpu {20000, 20000, 20000, 20000}");
  CHECK(text_of(out_dtype("aten::mul.Scalar", DType::Int32, {x, 3})) ==
        "int32[2, 2] on cpu {300, 300, 300, 300}");
  CHECK(text_of(out_dtype("aten::div.Tensor", DType::Float32, {x, x})) ==
        "float32[2, 2] on cpu {1, 1, 1, 1}");
  // A dtype that is lower: the result is converted.
  const Tensor f = tensor_of({1}, {3}, DType::Float64);
  CHECK(text_of(out_dtype("aten::mul.Tensor", DType::Float32, {f, f})) == "float32[1] on cpu {9}");
  CHECK_THAT(message([&] {
               out_dtype("aten::add.Tensor", DType::Int32, {x, x});
             }),
             Contains("ValueError: higher_order::out_dtype: op: expected one of ") &&
                 Contains("; got aten::add.Tensor"));
}

TEST_CASE("out_dtype stays one call of a graph, and its gradients are those of what it computes") {
  const Program program = [](const Tensors& in) {
    return Tensors{out_dtype("aten::mul.Tensor", DType::Float64, {in[0], in[1]})};
  };
  const Program plain = [](const Tensors& in) { return Tensors{in[0] * in[1]}; };
  const Tensors inputs = different_inputs()[0], leaves = as_leaves(inputs);
  CHECK(run_all_ways(program, inputs) == text_of(plain(inputs)));
  CHECK_THAT(trace(program, inputs).to_string(),
             Contains("out_dtype = out_dtype('aten::mul.Tensor', float64, [arg0, arg1])"));
  for (const Program& functional :
       {functionalize(program), FunctionalMode().functionalize(program)}) {
    check_close(functional(inputs), plain(inputs));
    CHECK_THAT(trace(functional, inputs).to_string(), Contains("out_dtype("));
  }
  for (const int order : {1, 2}) {
    const Tensors expected = gradients_of(plain, order)(leaves);
    check_close(gradients_of(program, order)(leaves), expected);
    check_close(gradients_of(functionalize(program), order)(leaves), expected);
    check_close(trace(gradients_of(program, order), leaves).run(inputs), expected);
  }
  FakeTensorMode fake;
  const Tensor x = fake.from_tensor(tensor_of({2, 2}, {1, 2, 3, 4}, DType::Int8));
  CHECK(text_of(out_dtype("aten::mm", DType::Int32, {x, x})) == "int32[2, 2] on cpu");
}

TEST_CASE("print puts values into the places of the format") {
  const Tensor x = tensor_of({2}, {1, 2});
  CHECK(printed([&] { print("x {} of {}", {x, 3}); }) == "x tensor([1., 2.]) of 3\n");
  CHECK(printed([&] { print("{1} {0} {1}", {"a", true}); }) == "True a True\n");
  CHECK(printed([&] { print("{{{name}}}", {}, {{"name", 0.5}}); }) == "{0.5}\n");
  CHECK_THAT(message([&] { print("{} {}", {1}); }), Contains("IndexError: higher_order::print"));
  CHECK_THAT(message([&] { print("{} {0}", {1}); }), Contains("ValueError: higher_order::print"));
  CHECK_THAT(message([&] { print("{:.2f}", {1.5}); }),
             Contains("only places, without a format of the value, are known"));
}

TEST_CASE("a graph prints when it runs, in the order of the program, and when nobody uses it") {
  const Program program = [](const Tensors& in) {
    print("first {}", {in[0]});
    const Tensor y = in[0] * 2;
    print("then {}", {y});
    return Tensors{y};
  };
  const Tensors in{tensor_of({1}, {1})};
  const std::string both = "first tensor([1.])\nthen tensor([2.])\n";
  CHECK(printed([&] { program(in); }) == both);
  for (const Program& way : {program, Program(functionalize(program)),
                             Program(FunctionalMode().functionalize(program))}) {
    Graph graph;
    CHECK(printed([&] { graph = trace(way, in); }) == both);
    graph.eliminate_dead_code();
    INFO(graph.to_string());
    CHECK_THAT(graph.to_string(), Contains("# token 2"));
    CHECK(printed([&] { graph.run(in); }) == both);
  }
  FakeTensorMode fake;
  CHECK(printed([&] { program({fake.from_tensor(in[0])}); }).empty());
}

TEST_CASE("a function prints as often as it runs, not when it is traced or derived") {
  const Program program = [](const Tensors& in) {
    return wrap(
        [](const Tensor& x) {
          print("inside {}", {5});
          return exp(x);
        },
        {in[0]});
  };
  const Tensors leaves = as_leaves(different_inputs()[0]);
  CHECK(printed([&] { gradients_of(program)(leaves); }) == "inside 5\n");
  Graph graph;
  CHECK(printed([&] { graph = trace(gradients_of(program), leaves); }) == "inside 5\n");
  CHECK(printed([&] { graph.run(different_inputs()[0]); }) == "inside 5\n");
}

TEST_CASE("a state is that before the operator, which draws the same from it again") {
  const Tensor p = tensor_of({8}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  const Program program = [](const Tensors& in) {
    const auto [state, drawn] = run_and_save_rng_state("aten::bernoulli", {in[0]});
    Tensors results = drawn;
    results.push_back(run_with_rng_state(state, "aten::bernoulli", {in[0]})[0]);
    return results;
  };
  const auto check = [&](const Tensors& results) {
    REQUIRE(results.size() == 2);
    CHECK(values_of(results[0]) == values_of(results[1]));
  };
  check(program({p}));
  check(functionalize(program)({p}));
  const Graph graph = trace(program, {p});
  CHECK_THAT(
      graph.to_string(),
      Contains("run_and_save_rng_state = run_and_save_rng_state('aten::bernoulli', [arg0])"));
  check(graph.run({p}));
  // Another draw is another one, and the second of each pair leaves the generator alone.
  CHECK(values_of(graph.run({p})[0]) != values_of(graph.run({p})[0]));
  FakeTensorMode fake;
  const Tensors faked = program({fake.from_tensor(p)});
  CHECK(text_of(faked) == "float32[8] on cpu; float32[8] on cpu");
}

TEST_CASE("foreach_map is one call for all tensors of its lists") {
  const Tensor a = tensor_of({2}, {1, 2}), b = tensor_of({1}, {3});
  const Program program = [](const Tensors& in) {
    return foreach_map([](const Tensor& x, const Tensor& y) { return x * y; },
                       {{in[0], in[1]}, {in[1], in[1]}});
  };
  CHECK(run_all_ways(program, {a, b}) == "float32[2] on cpu {3, 6}; float32[1] on cpu {9}");
  CHECK_THAT(trace(program, {a, b}).to_string(),
             Contains("foreach_map = foreach_map(foreach_map_graph, [arg0, arg1, arg1, arg1])"));
}

TEST_CASE("random numbers are kept for no operator whose write or view nobody would see") {
  const Tensor x = tensor_of({2}, {1, 1});
  const Tensor state = run_and_save_rng_state("aten::bernoulli", {x}).first;
  const std::string expected =
      ": op: expected one that neither writes to its arguments nor gives views of them, got aten::";
  CHECK_THROWS_WITH(run_and_save_rng_state("aten::add_.Tensor", {x, x}),
                    Catch::Contains("higher_order::run_and_save_rng_state" + expected));
  CHECK_THROWS_WITH(run_with_rng_state(state, "aten::view", {x, std::vector<int64_t>{-1}}),
                    Catch::Contains("higher_order::run_with_rng_state" + expected));
}

TEST_CASE("whatever an operator is given, in whatever layer, its error names it") {
  const Tensor x = ones({3, 2});
  const auto pair = [](const char* name) { return IValue(std::vector<IValue>{name, 1}); };
  const std::vector<IValue> values{IValue(),
                                   int64_t{-1},
                                   std::numeric_limits<int64_t>::max(),
                                   1.5,
                                   "nonsense",
                                   "aten::mul.Tensor",
                                   true,
                                   x,
                                   Tensor(),
                                   Tensors{},
                                   Tensors{Tensor()},
                                   std::vector<IValue>{},
                                   std::vector<IValue>{std::vector<IValue>{}},
                                   std::vector<IValue>{pair("a"), pair("a")},
                                   DType::Float32,
                                   Callable::make([](std::vector<IValue> given) { return given; })};
  const FakeTensorMode fake;
  const auto call_in = [&](int layer, const HigherOrderOperator& op, std::vector<IValue> given) {
    const auto program = [&](const Tensors&) {
      op(std::move(given));
      return Tensors{};
    };
    if (layer == 1) {
      const ModeGuard active(fake.mode());
      program({});
    } else if (layer == 2) {
      trace(program, {});
    } else if (layer == 3) {
      functionalize(program)({});
    } else {
      program({});
    }
  };
  uint32_t random = 1;
  const auto below = [&](size_t n) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % n;
  };
  for (const HigherOrderOperator* op : all_higher_order_ops()) {
    if (op->opname() == "print") continue;  // it would
    for (int i = 0; i < 800; ++i) {
      const size_t n = op->parameters().size();
      std::vector<IValue> given;
      for (size_t count = i % 7 == 0 ? below(n + 2) : n; count > 0; --count)
        given.push_back(values[below(values.size())]);
      std::string text = IValue(given).to_string();
      INFO("layer " << i % 4 << ": " << op->name() << text);
      try {
        call_in(i % 4, *op, std::move(given));
      } catch (const Error& error) {
        if (std::string_view(error.what()).find(op->name()) == std::string_view::npos)
          FAIL_CHECK(error.what());
      }
    }
  }
}

TEST_CASE("an error of an operator names the argument, too") {
  const Tensor x = ones({2});
  CHECK_THROWS_WITH(with_effects(x, "aten::nothing_such", {}),
                    Catch::Matchers::Contains("higher_order::with_effects: op: "));
  CHECK_THROWS_WITH(run_and_save_rng_state("aten::nothing_such", {}),
                    Catch::Matchers::Contains("higher_order::run_and_save_rng_state: op: "));
  CHECK_THROWS_WITH(run_with_rng_state(zeros({3}, DType::UInt8), "aten::mul.Tensor", {x, x}),
                    Catch::Matchers::Contains("higher_order::run_with_rng_state: rng_state: "));
  CHECK_THROWS_WITH(run_with_rng_state(Tensor(), "aten::mul.Tensor", {x, x}),
                    Catch::Matchers::Contains("higher_order::run_with_rng_state: rng_state: "));
  CHECK_THROWS_WITH(auto_functionalized("aten::nothing_such", {}),
                    Catch::Matchers::Contains("higher_order::auto_functionalized: op: "));
  const auto v2 = [&](std::vector<higher_order::NamedValue> kwargs) {
    kwargs.emplace_back("other", x);
    auto_functionalized_v2("aten::add_.Tensor", kwargs, {x});
  };
  const std::string name = "higher_order::auto_functionalized_v2: kwargs: '_self_";
  for (const IValue& place : std::vector<IValue>{1, -1, "first", 0.5, Tensors{}})
    CHECK_THROWS_WITH(v2({{"_self_base_index", place}}),
                      Catch::Matchers::StartsWith(name + "base_index': "));
  CHECK_THROWS_WITH(v2({{"_self_base_index", 0},
                        {"_self_slice_dim", 7},
                        {"_self_slice_start", 0},
                        {"_self_slice_end", 1}}),
                    Catch::Matchers::StartsWith(name + "slice_dim': "));
  CHECK_THROWS_WITH(hints_wrapper([](const Tensor& t) { return t; }, {x}, {{"a", 1}, {"a", 2}}),
                    "higher_order::hints_wrapper: hints: 'a' is given twice");
}

TEST_CASE("an operator of one's own says what is wrong with how it is defined") {
  const auto make = [](std::vector<std::string> parameters, size_t function, size_t operands) {
    higher_order::BaseHop({.name = "of_ones_own",
                           .parameters = std::move(parameters),
                           .function = function,
                           .operands = operands,
                           .graph_name = "graph"});
  };
  using Catch::Matchers::StartsWith;
  CHECK_THROWS_WITH(make({"f", "args"}, 2, 1), StartsWith("BaseHop: of_ones_own: function: "));
  CHECK_THROWS_WITH(make({"f", "args"}, 0, 9), StartsWith("BaseHop: of_ones_own: operands: "));
  CHECK_THROWS_WITH(make({"f", "args"}, 1, 1), StartsWith("BaseHop: of_ones_own: function and "));
  CHECK_THROWS_WITH(make({"f", "f"}, 0, 1),
                    "higher_order::of_ones_own: parameter 1 'f': there twice");
  CHECK_THROWS_WITH(make({"f", ""}, 0, 1),
                    "higher_order::of_ones_own: parameter 1: expected an identifier, got ''");
  CHECK(find_higher_order_op("of_ones_own") == nullptr);
  const IValue same = tensor_callable("f", [](const Tensor& t) { return t; });
  CHECK_THROWS_WITH(wrap_hop()(same, {ones({2})}, {1}),
                    "higher_order::wrap: settings: expected 0, got 1");
  CHECK_THROWS_WITH(wrap_with_set_grad_enabled_hop()(same, {ones({2})}),
                    "higher_order::wrap_with_set_grad_enabled: settings: expected 1, got 0");
}

TEST_CASE("functions that are empty, and sizes that do not fit, are refused by name") {
  using Catch::Matchers::StartsWith;
  const Tensor x = ones({3, 2});
  const std::function<Tensors(const Tensors&)> none;
  CHECK_THROWS_WITH(cond(full({}, true, DType::Bool), none, none, {}),
                    StartsWith("higher_order::cond: true_fn: expected a function"));
  CHECK_THROWS_WITH(while_loop_values(nullptr, nullptr, {1}),
                    "higher_order::while_loop: cond_fn: expected a function, got an empty one");
  CHECK_THROWS_WITH(switch_values(full({}, 0, DType::Int64), {nullptr, nullptr}, {}),
                    "higher_order::switch: branch 0: expected a function, got an empty one");
  const auto step = [](const Tensor& carry, const Tensor& row) {
    return Tensors{carry + row, carry};
  };
  for (const int64_t dim : {-3, 2, 7})
    CHECK_THROWS_WITH(scan(step, {ones({2})}, {x}, {}, false, dim),
                      StartsWith("higher_order::scan: dim: expected a dimension of xs item 0"));
  CHECK_THROWS_WITH(
      associative_scan([](const Tensor& a, const Tensor& b) { return a * b; }, {x}, false, 2),
      StartsWith("higher_order::associative_scan: dim: expected a dimension of xs item 0"));
  CHECK_THROWS_WITH(
      while_loop_stack_output([](const Tensor& t) { return sum(t) < 100; },
                              [](const Tensor& t) {
                                return cat({t, t});
                              },
                              {x}),
      StartsWith("higher_order::while_loop_stack_output: body_fn: result 0: expected float32[6"));
  const Program of_no_slices = [&](const Tensors& in) { return scan(step, {in[0]}, {in[1]}); };
  CHECK_THROWS_WITH(functionalize(of_no_slices)({ones({2}), ones({0, 2})}),
                    StartsWith("higher_order::scan: combine_fn: traced, as xs has no slices: "));
}

}  // namespace
}  // namespace sb::test
