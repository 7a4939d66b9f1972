// Higher-order operators inside of vmap.

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/vmap/examples.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensor doubled(const Tensor& x) { return x * 2; }
Tensor negated(const Tensor& x) { return -x; }

TEST_CASE("each example goes its way through cond") {
  check_as_loop(
      [](const Tensors& in) { return cond(sum_all(in[0]) > 20, doubled, negated, {in[0]}); },
      {numbers({4, 3})});
}

TEST_CASE("a condition that is the same for all is cond of batches") {
  const Tensor yes = numbers({}) > 0;
  const auto program = [](const Tensors& in) {
    const auto f = [&](const Tensor& x) { return cond(in[1], doubled, negated, {x})[0]; };
    return vmap(f, {in[0]});
  };
  const Tensor x = numbers({4, 3});
  CHECK(same(program({x, yes})[0], x * 2));
  const Graph graph = trace(program, {x, yes});
  CHECK_THAT(graph.to_string(), Contains("cond"));
  CHECK(same(graph.run({x, numbers({}) > 5})[0], -x));
}

TEST_CASE("a function that not every example runs writes to nothing but its own") {
  const auto writes = [](const Tensor& x) { return add_Scalar_(x, 1); };
  const auto program = [&](const Tensor& x) { return cond(sum_all(x) > 20, writes, doubled, {x}); };
  CHECK_THAT(message_of([&] {
               vmap(program, {numbers({4, 3})});
             }),
             Contains("NotImplementedError: aten::add_.Scalar") &&
                 Contains("is written to by a function that runs for examples which do not go"));
  const auto on_clone = [](const Tensor& x) { return add_Scalar_(clone(x), 1); };
  check_as_loop(
      [&](const Tensors& in) { return cond(sum_all(in[0]) > 20, on_clone, doubled, {in[0]}); },
      {numbers({4, 3})});
}

TEST_CASE("map and scan go along dimensions of one example") {
  const Tensor w = numbers({3});
  check_as_loop(
      [&](const Tensors& in) {
        return sb::map([](const Tensor& row, const Tensor& k) { return row * k; }, {in[0]}, {w});
      },
      {numbers({2, 4, 3})});
  check_as_loop(
      [&](const Tensors& in) {
        const auto step = [](const Tensor& carry, const Tensor& row) {
          const Tensor next = carry + row;
          return Tensors{next, next * 2};
        };
        return scan(step, {w}, {in[0]}, {}, true);
      },
      {numbers({2, 4, 3})});
  check_as_loop(
      [&](const Tensors& in) {
        const auto add_rows = [](const Tensor& a, const Tensor& b) { return a + b; };
        return associative_scan(add_rows, {in[0]});
      },
      {numbers({2, 4, 3})});
}

TEST_CASE("a higher-order operator without a rule is refused by name") {
  const auto program = [](const Tensor& x) {
    return while_loop([](const Tensor& y) { return sum_all(y) < 100; }, doubled, {x});
  };
  CHECK_THAT(message_of([&] {
               vmap(program, {numbers({4, 3})});
             }),
             Contains("NotImplementedError: higher_order::while_loop: no rule for the transform "
                      "vmap level 1 (Vmap)"));
}

}  // namespace
}  // namespace sb::test
