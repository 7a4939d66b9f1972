// The predicate of a cond, or the index of a switch, may be what symbolic sizes tell.

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/switch.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

Tensors times_size_or_negated(const Tensors& in) {
  const Tensor& x = in[0];
  return cond(
      x.sym_size(0) > 4, [n = x.sym_size(0)](const Tensor& a) { return a * Scalar(n); },
      [](const Tensor& a) { return -a; }, {x});
}

Tensors one_of_three(const Tensors& in) {
  const auto times = [](int64_t n) { return [n](const Tensor& x) { return x * n; }; };
  return switch_on(in[0].sym_size(0) - 2, branches(times(2), times(3), times(4)), {in[0]});
}

Tensor row(int64_t n) { return tensor_of({n}, Numbers(static_cast<size_t>(n), 1)); }

Graph traced(const Program& f, int64_t size, const IntrusivePtr<ShapeEnv>& env) {
  FakeTensorMode fake({.shape_env = env});
  return trace(f, {fake.from_tensor(row(size))});
}

TEST_CASE("a size that is a number chooses at once") {
  CHECK(numbers_in(times_size_or_negated({row(5)})[0]) == Numbers(5, 5));
  CHECK(numbers_in(times_size_or_negated({row(4)})[0]) == Numbers(4, -1));
  CHECK(numbers_in(one_of_three({row(3)})[0]) == Numbers(3, 3));
  CHECK(numbers_in(one_of_three({row(1)})[0]) == Numbers(1, 2));
  CHECK(numbers_in(one_of_three({row(9)})[0]) == Numbers(9, 4));
}

TEST_CASE("a graph has both branches, and each run takes the one of its sizes") {
  const auto env = ShapeEnv::create();
  const Graph graph = traced(times_size_or_negated, 3, env);
  CHECK(env->guards().empty());
  CHECK_THAT(graph.to_string(), Catch::Contains("cond(s0 >= 5, true_graph, false_graph, [arg0])"));
  for (const int64_t size : {2, 4, 5, 6}) {
    CHECK(text_of(graph.run({row(size)})) == text_of(times_size_or_negated({row(size)})));
  }
  const Graph choice = traced(one_of_three, 3, env);
  for (const int64_t size : {2, 3, 4, 7})
    CHECK(text_of(choice.run({row(size)})) == text_of(one_of_three({row(size)})));
  CHECK(env->guards().empty());
}

TEST_CASE("under functionalisation and in graphs of graphs it is the same") {
  const auto env = ShapeEnv::create();
  const Graph graph = traced(functionalize(times_size_or_negated), 3, env);
  const Graph again =
      traced([&](const Tensors& in) { return graph.run(in); }, 7, ShapeEnv::create());
  for (const int64_t size : {4, 5}) {
    const std::string expected = text_of(times_size_or_negated({row(size)}));
    CHECK(text_of(graph.run({row(size)})) == expected);
    CHECK(text_of(again.run({row(size)})) == expected);
  }
}

TEST_CASE("gradients are those of the branch that the sizes choose") {
  const auto gradients = [](const Tensors& in) -> Tensors {
    const Tensor x = alias(in[0]);
    set_requires_grad(x);
    const Tensor y = times_size_or_negated({x})[0];
    return grad({y}, {x}, {ones_like(y)});
  };
  const Graph graph = traced(gradients, 3, ShapeEnv::create());
  CHECK(numbers_in(graph.run({row(4)})[0]) == Numbers(4, -1));
  CHECK(numbers_in(graph.run({row(6)})[0]) == Numbers(6, 6));
  // And those of the graph.
  const Graph forward = traced(times_size_or_negated, 3, ShapeEnv::create());
  for (const int64_t size : {4, 6}) {
    const Tensor x = row(size);
    set_requires_grad(x);
    const Tensor y = forward.run({x})[0];
    CHECK(numbers_in(grad({y}, {x}, {ones_like(y)})[0]) ==
          Numbers(static_cast<size_t>(size), size == 4 ? -1 : 6));
  }
}

TEST_CASE("in a fake mode sizes that differ between the branches are symbols") {
  FakeTensorMode fake({.shape_env = ShapeEnv::create()});
  const Tensor x = fake.from_tensor(row(3));
  const auto values = [&](const SymBool& pred) {
    return cond_values(
        pred,
        [](const Tensors& in) {
          return std::vector<IValue>{in[0], 3};
        },
        [](const Tensors& in) {
          return std::vector<IValue>{in[0] + 1, 4};
        },
        {x});
  };
  CHECK(values(x.sym_size(0) > 4)[1].is_SymInt());
  CHECK(values(SymBool(true))[1].to_int() == 3);
  CHECK(fake.shape_env()->guards().empty());
}

TEST_CASE("kernels ask the size, which is a guard") {
  const auto env = ShapeEnv::create();
  const SymInt n = env->create_symint(5, "n");
  const auto plus = [](const Tensor& a) { return a + 1; };
  const auto minus = [](const Tensor& a) { return a - 1; };
  CHECK(numbers_in(cond(n > 4, plus, minus, {row(1)})[0]) == Numbers{2});
  CHECK(env->guards().size() == 1);
  CHECK(numbers_in(switch_on(n - 4, branches(plus, minus), {row(1)})[0]) == Numbers{0});
  CHECK(message([&] {
          cond_op()({IValue(n), IValue(), IValue(), Tensors{}});
        }) == "TypeError: higher_order::cond: pred: expected a bool or a tensor, got SymInt");
}

}  // namespace
}  // namespace sb::test
