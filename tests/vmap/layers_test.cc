// vmap among traces, fake tensors and functionalisation.

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/modes/logging_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/tests/vmap/examples.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Of one example: views, writes, a reduction, a product.
Tensors example(const Tensors& in) {
  const Tensor x = clone(in[0]);
  mul_Scalar_(select(x, 0, 0), 2);
  add_(t(x), sum_dim(x, {{1}}));
  return {mm(x, in[1]), cumsum(x, 0), sum_all(x)};
}
const auto batched = [](const Tensors& in) { return vmap(example, in); };

Tensors inputs() { return {numbers({3, 2, 4}), numbers({3, 4, 2}, -3)}; }

TEST_CASE("a graph of a program with vmap holds the calls on batches") {
  const Graph graph = trace(batched, inputs());
  CHECK_THAT(graph.to_string(), Contains("bmm") && !Contains("vmap"));
  const Tensors others{numbers({3, 2, 4}, 5, 0.5), numbers({3, 4, 2}, 1)};
  const Tensors expected = loop(example, others), got = graph.run(others);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(same(got[i], expected[i]));
}

TEST_CASE("fake tensors go through vmap") {
  FakeTensorMode fake;
  Tensors fakes;
  for (const Tensor& t : inputs()) fakes.push_back(fake.from_tensor(t));
  const Tensors expected = loop(example, inputs());
  const Tensors got = [&] {
    const FakeTensorModeGuard guard(fake);
    return batched(fakes);
  }();
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(is_fake(got[i]));
    CHECK(got[i].sizes() == expected[i].sizes());
    CHECK(got[i].dtype() == expected[i].dtype());
  }
}

TEST_CASE("a program with vmap is functionalised, by the key and by the mode") {
  const Tensors expected = loop(example, inputs());
  const auto check = [&](const Tensors& got) {
    for (size_t i = 0; i < expected.size(); ++i) CHECK(same(got[i], expected[i]));
  };
  check(functionalize(batched)(inputs()));
  check(FunctionalMode().functionalize(batched)(inputs()));
  // The graph of it mutates nothing.
  const Graph graph = trace(functionalize(batched), inputs());
  CHECK_THAT(graph.to_string(), !Contains("mul_") && !Contains("add_"));
  check(graph.run(inputs()));
}

TEST_CASE("what is written inside of vmap to an input reaches it through functionalisation") {
  const auto program = [](const Tensors& in) {
    return vmap([](const Tensor& x) { return add_Scalar_(select(x, 0, 1), 10); }, in);
  };
  const Tensor eager = numbers({3, 2}), functional = numbers({3, 2});
  program({eager});
  functionalize(program)({functional});
  CHECK(same(functional, eager));
}

TEST_CASE("layers that would stand for batched tensors are refused inside of vmap") {
  const auto error = [](auto f) { return message_of([&] { vmap(f, inputs()); }); };
  CHECK(error([](const Tensors& in) { return functionalize(example)(in); }) ==
        "NotImplementedError: functionalize: inside of vmap level 1; functionalise the program "
        "with the transform in it");
  CHECK_THAT(error([](const Tensors& in) { return FunctionalMode().functionalize(example)(in); }),
             Contains("NotImplementedError: FunctionalMode: inside of vmap level 1"));
  CHECK_THAT(error([](const Tensors& in) { return trace(example, in).run(in); }),
             Contains("NotImplementedError: trace: inside of vmap, got float32[2, 4] on cpu"));
  CHECK_THAT(error([](const Tensors& in) {
               FakeTensorMode fake;
               return Tensors{fake.from_tensor(in[0])};
             }),
             Contains("NotImplementedError: FakeTensorMode.from_tensor: inside of vmap"));
}

TEST_CASE("modes see the calls on batches") {
  LoggingMode log;
  {
    const ModeGuard guard(&log);
    vmap([](const Tensor& x) { return sum_all(x * 2); }, {numbers({3, 4})});
  }
  const std::string text = log.to_string();
  CHECK_THAT(text, Contains("aten::mul") && Contains("float32[3, 4]"));
}

}  // namespace
}  // namespace sb::test
