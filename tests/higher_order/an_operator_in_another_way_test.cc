// out_dtype, print and the operators of random states: what they give, in every layer.

#include <iostream>
#include <sstream>

#include "switchboard/autograd/backward.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/higher_order/foreach_map.h"
#include "switchboard/transforms/higher_order/out_dtype.h"
#include "switchboard/transforms/higher_order/print.h"
#include "switchboard/transforms/higher_order/rng_state.h"

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

}  // namespace
}  // namespace sb::test
