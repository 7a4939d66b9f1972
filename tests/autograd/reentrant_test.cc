// Backward passes that run inside of backward passes.

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::tensor_of;
using test::values_of;

// x, whose gradient is that of the same thing one level down: each level runs a backward pass
// inside of the one above it.
struct Nested : Function<Nested> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x, int64_t levels) {
    ctx.set("levels", levels);
    return clone(x);
  }
  static std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& g) {
    const int64_t levels = ctx.get("levels").to_int();
    if (levels == 0) return {g, Tensor()};
    const Tensor x = detach(g);
    set_requires_grad(x);
    const GradModeGuard on(true);
    return {grad({sum_all(Nested::apply(x, levels - 1))}, {x})[0], Tensor()};
  }
};

Tensor leaf() {
  const Tensor x = tensor_of({2}, {3, 4});
  set_requires_grad(x);
  return x;
}

TEST_CASE("a backward pass may run backward, 8192 levels deep") {
  for (const int64_t levels : {1, 59, 60, 61, 1000, 8192}) {
    const Tensor x = leaf();
    backward(sum_all(Nested::apply(x, levels)));
    CHECK(values_of(grad_of(x)) == std::vector<double>{1, 1});
  }
}

struct Deepest : Function<Deepest> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x, int64_t levels) {
    ctx.set("levels", levels);
    return clone(x);
  }
  static std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& g) {
    const int64_t levels = ctx.get("levels").to_int();
    SB_CHECK_VALUE(levels > 0, "the deepest level refuses");
    const Tensor x = detach(g);
    set_requires_grad(x);
    const GradModeGuard on(true);
    return {grad({sum_all(Deepest::apply(x, levels - 1))}, {x})[0], Tensor()};
  }
};

TEST_CASE("what the deepest level throws comes through all of them, and leaves nothing behind") {
  const Tensor x = leaf();
  CHECK_THROWS_AS(backward(sum_all(Deepest::apply(x, 500))), ValueError);
  CHECK_THROWS_WITH(backward(sum_all(Deepest::apply(x, 500))), Contains("the deepest level"));
  CHECK(is_grad_enabled());
  CHECK_FALSE(grad_of(x).defined());
  backward(sum_all(Nested::apply(x, 200)));
  CHECK(values_of(grad_of(x)) == std::vector<double>{1, 1});
}

struct Seen final : DispatchMode {
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    clones += op.name().to_string() == "aten::clone";
    op.call_boxed(stack);
  }
  std::string name() const override { return "Seen"; }
  int clones = 0;
};

TEST_CASE("modes of the thread see what the deep levels call") {
  const Tensor x = leaf();
  const Tensor y = sum_all(Nested::apply(x, 300));
  Seen seen;
  {
    const ModeGuard on(&seen);
    backward(y);
  }
  CHECK(seen.clones == 300);
}

}  // namespace
}  // namespace sb
