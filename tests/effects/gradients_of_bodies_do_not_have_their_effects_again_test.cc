#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/effects/operators.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"

namespace sb::effects {
namespace {

using Catch::Contains;

// The gradient of the sum of what f gives, by its input.
Program gradient_of(const std::function<Tensor(const Tensor&)>& f) {
  return [f](const Tensors& in) {
    const Tensor x = detach(in[0]);
    set_requires_grad(x);
    return Tensors{grad({sum(f(x))}, {x})[0]};
  };
}

void check_effects_once(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                        const std::string& gradient, const std::string& log) {
  const Program g = gradient_of(f);
  CHECK(log_of([&] { CHECK(text_of(g({x})[0]) == gradient); }) == log);
  Graph graph;
  CHECK(log_of([&] { graph = trace(g, {x}); }) == log);
  CHECK(log_of([&] { CHECK(text_of(graph.run({x})[0]) == gradient); }) == log);
}

TEST_CASE("of cond") {
  check_effects_once(
      [](const Tensor& x) {
        return cond(
            sum(x) > 0,
            [](const Tensor& y) {
              note_value("y", y);
              return y * y;
            },
            [](const Tensor& y) { return y * 2; }, {x})[0];
      },
      numbers({3}), "6", "y=3");
}

TEST_CASE("of map, and of scan") {
  const Tensor rows = test::tensor_of({2, 1}, {2, 3});
  check_effects_once(
      [](const Tensor& x) {
        return map(
            [](const Tensor& row) {
              note_value("row", row);
              return row * row;
            },
            {x})[0];
      },
      rows, "4, 6", "row=2, row=3");
  check_effects_once(
      [](const Tensor& x) {
        return scan(
            [](const Tensor& product, const Tensor& row) {
              note_value("row", row);
              return Tensors{product * row, row * 1};
            },
            {select(x, 0, 0) * 0 + 1}, {x})[0];
      },
      rows, "3, 2", "row=2, row=3");
}

TEST_CASE("of functions in functions") {
  check_effects_once(
      [](const Tensor& x) {
        return map(
            [](const Tensor& row) {
              return cond(
                  sum(row) > 2,
                  [](const Tensor& y) {
                    note_value("y", y);
                    return y * y;
                  },
                  [](const Tensor& y) { return y * 5; }, {row})[0];
            },
            {x})[0];
      },
      test::tensor_of({2, 1}, {2, 3}), "5, 6", "y=3");
}

TEST_CASE("one whose result a gradient would need is refused") {
  const Program g = gradient_of([](const Tensor& x) {
    return cond(
        sum(x) > 0, [](const Tensor& y) { return copied(y) * y; },
        [](const Tensor& y) { return y * 2; }, {x})[0];
  });
  CHECK_THROWS_AS(trace(g, {numbers({3})}), NotImplementedError);
  CHECK_THROWS_WITH(trace(g, {numbers({3})}),
                    Contains("effects::copied: ") && Contains("higher_order::cond: true_fn"));
}

}  // namespace
}  // namespace sb::effects
