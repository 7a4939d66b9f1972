// A graph that was traced with symbolic sizes runs with the sizes of its inputs.

#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/masked.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using Tensors = std::vector<Tensor>;
using Numbers = std::vector<double>;
using Function = std::function<Tensors(const Tensors&)>;

// A trace on fake tensors like these, whose sizes are symbols.
Graph traced(const Function& f, const Tensors& examples, const IntrusivePtr<ShapeEnv>& env) {
  FakeTensorMode fake({.shape_env = env});
  const FakeTensorModeGuard active(fake);
  return trace(f, fake.from_tensors(examples));
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "no error";
}

Tensors mean_of_rows(const Tensors& in) {
  const Tensor flat = view(in[0], std::vector<SymInt>{in[0].sym_numel()});
  return {flat / Scalar(in[0].sym_size(0))};
}

TEST_CASE("each run has the sizes of its inputs", "[graph][symbolic]") {
  const auto env = ShapeEnv::create();
  const Graph graph = traced(mean_of_rows, {ones({3, 4})}, env);
  CHECK(graph.to_string() ==
        "graph(arg0: float32[s0, s1]):\n"
        "  view = aten::view(arg0, [s0*s1])\n"
        "  div = aten::div.Scalar(view, s0)\n"
        "  return (div,)\n");
  const Tensor y = graph.run({ones({2, 5})})[0];
  CHECK(y.sizes() == IntArrayRef({10}));
  CHECK(test::values_of(y) == Numbers(10, 0.5));
  CHECK(env->guards().empty());
}

TEST_CASE("sizes that the program was not traced for are refused", "[graph][symbolic]") {
  const auto env = ShapeEnv::create();
  const auto f = [](const Tensors& in) {
    const bool many = (in[0].sym_size(0) > 4).guard_bool();
    return Tensors{many ? in[0] + in[1] : in[0] - in[1]};
  };
  const Graph graph = traced(f, {ones({3, 1}), ones({3, 1})}, env);
  CHECK(test::values_of(graph.run({ones({2, 1}), ones({2, 1})})[0]) == Numbers{0, 0});
  CHECK_THAT(error_of([&] {
               graph.run({ones({6, 1}), ones({6, 1})});
             }),
             Contains("ValueError: graph: the program rests on s0 <= 4, as ") &&
                 Contains("asked; got inputs for which that does not hold"));
  CHECK(error_of([&] {
          graph.run({ones({2, 1}), ones({4, 1})});
        }) ==
        "ValueError: graph: input 1 'arg1': dimension 0: expected s0 = 2, as when the graph was "
        "made, got float32[4, 1] on cpu");
  CHECK(error_of([&] {
          graph.run({ones({2, 2}), ones({2, 2})});
        }) ==
        "ValueError: graph: input 0 'arg0': dimension 1: expected 1, as when the graph was made, "
        "got float32[2, 2] on cpu");
  CHECK(error_of([&] {
          graph.run({ones({2}), ones({2})});
        }) == "ValueError: graph: input 0 'arg0': expected 2 dimensions, got float32[2] on cpu");
  // 0 and 1 were special.
  CHECK_THAT(error_of([&] {
               graph.run({ones({1, 1}), ones({1, 1})});
             }),
             Contains("the program rests on s0 >= 2, the range of "));
}

TEST_CASE("a size that was read as a number is one", "[graph][symbolic]") {
  const auto f = [](const Tensors& in) {
    return Tensors{in[0] * Scalar(in[0].sym_size(0).guard_int())};
  };
  const Graph graph = traced(f, {ones({3})}, ShapeEnv::create());
  CHECK(test::values_of(graph.run({ones({3})})[0]) == Numbers{3, 3, 3});
  CHECK_THAT(error_of([&] { graph.run({ones({4})}); }), Contains("the program rests on s0 == 3"));
}

TEST_CASE("sizes that data tell are those of the run", "[graph][symbolic]") {
  const auto f = [](const Tensors& in) {
    const SymInt count = nonzero(in[0]).sym_size(0);
    return Tensors{full(std::vector<SymInt>{count}, Scalar(count * 2))};
  };
  Graph graph = traced(f, {ones({3})}, ShapeEnv::create());
  CHECK(graph.eliminate_dead_code() == 0);  // nobody uses the tensor, and it tells the size
  const Tensor y = graph.run({test::tensor_of({4}, {1, 0, 1, 1})})[0];
  CHECK(test::values_of(y) == Numbers{6, 6, 6});
}

TEST_CASE("numbers of the data are those of the run", "[graph][symbolic]") {
  const auto f = [](const Tensors& in) {
    const SymInt n = item(in[0]).to_sym_int();
    check(n >= 2, "two at least");
    return Tensors{in[1] * Scalar(n)};
  };
  const auto count = [](double n) { return test::tensor_of({}, {n}, DType::Int64); };
  Graph graph = traced(f, {count(3), ones({2})}, ShapeEnv::create());
  CHECK_THAT(graph.to_string(), Contains("(arg0)  # u0\n"));
  graph.eliminate_dead_code();
  CHECK(test::values_of(graph.run({count(7), ones({2})})[0]) == Numbers{7, 7});
  CHECK_THAT(error_of([&] {
               graph.run({count(1), ones({2})});
             }),
             Contains("gives u0 = 1; the program rests on u0 >= 2"));
}

TEST_CASE("on tensors with symbols of their own it is a program of these", "[graph][symbolic]") {
  const Graph graph = traced(mean_of_rows, {ones({3, 4})}, ShapeEnv::create());
  const auto env = ShapeEnv::create();
  const Graph again = traced([&](const Tensors& in) { return graph.run(in); }, {ones({6, 7})}, env);
  CHECK(again.to_string() == graph.to_string());
  CHECK(test::values_of(again.run({ones({2, 2})})[0]) == Numbers(4, 0.5));
  const auto both = [](const Tensors& in) { return Tensors{in[0] + in[1]}; };
  const Graph sum = traced(both, {ones({3}), ones({3})}, ShapeEnv::create());
  FakeTensorMode fake({.shape_env = ShapeEnv::create({.duck_shape = false})});
  sum.run(fake.from_tensors({ones({5}), ones({5})}));
  CHECK(fake.shape_env()->guards().size() == 1);  // that they have the same size
}

TEST_CASE("a symbol that nothing tells is refused", "[graph][symbolic]") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(5, "n");
  const auto f = [&](const Tensors& in) { return Tensors{in[0] * Scalar(n)}; };
  const Graph graph = traced(f, {ones({3})}, env);
  CHECK(error_of([&] { graph.run({ones({3})}); }) ==
        "NotImplementedError: graph: node 'mul': aten::mul.Scalar: takes s0, which neither an "
        "input nor a node of the graph tells");
  FakeTensorMode fake({.shape_env = env});
  const FakeTensorModeGuard active(fake);
  CHECK_NOTHROW(graph.run({ones({3})}));  // where it is at hand
}

}  // namespace
}  // namespace sb
