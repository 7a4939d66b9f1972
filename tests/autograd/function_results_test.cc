// What a Function may return: its inputs, views of them, what it wrote to, what has no gradient.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

// What is expected here is what PyTorch 1.13's torch.autograd.Function answers.

namespace sb {
namespace {

using Catch::Contains;

Tensor leaf(std::vector<SymInt> sizes = {2}) {
  Tensor t = ones(sizes);
  set_requires_grad(t);
  return t;
}
// A tensor that is no leaf, of a leaf of ones.
Tensor inner(const Tensor& w) { return w * 1; }

std::vector<float> values(const Tensor& t) {
  const Tensor flat = reshape(t, {-1});
  const Tensor dense = contiguous(flat);
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}
std::vector<float> grad_values(const Tensor& leaf) { return values(grad_of(leaf)); }
using Floats = std::vector<float>;

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<Tensor> seen;  // by a backward

struct ReturnsInput : Function<ReturnsInput> {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x; }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad * 2; }
};

TEST_CASE("an input that is returned comes back as a view of itself") {
  const Tensor x = leaf();
  const Tensor y = ReturnsInput::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.is_alias_of(x));
  CHECK(base_of(y).is_same(x));
  backward(sum(y));
  CHECK(grad_values(x) == Floats{2, 2});
  CHECK_THAT(error_of([&] { y *= 2; }), Contains("a view that a custom Function"));
}

TEST_CASE("an input that is returned is no part of the graph where nothing is recorded") {
  const Tensor plain = ones({2});
  const Tensor same = ReturnsInput::apply(plain);
  CHECK_FALSE(same.is_same(plain));
  CHECK_FALSE(requires_grad(same));
  const Tensor w = leaf();
  CHECK_THAT(error_of([&] { same *= w; }), Contains("a view that a custom Function"));

  const Tensor x = leaf();
  const NoGradGuard no_grad;
  const Tensor y = ReturnsInput::apply(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.is_alias_of(x));
  CHECK_FALSE(requires_grad(y));
}

struct ReturnsView : Function<ReturnsView> {
  static Tensor forward(FunctionContext&, const Tensor& x) { return view(x, {-1}); }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return view(grad * 3, {2, 2}); }
};

TEST_CASE("a view of an input has the Function's gradient") {
  const Tensor x = leaf({2, 2});
  const Tensor y = ReturnsView::apply(x);
  CHECK(base_of(y).is_same(x));
  CHECK_THAT(grad_fn(y)->name(), Contains("ReturnsView backward"));
  backward(sum(y));
  CHECK(grad_values(x) == Floats{3, 3, 3, 3});
  CHECK_THAT(error_of([&] { y *= 2; }), Contains("a view that a custom Function"));
}

TEST_CASE("a view that is returned under no_grad has no node, and requires what its base does") {
  const Tensor x = leaf({2, 2});
  const NoGradGuard no_grad;
  const Tensor y = ReturnsView::apply(x);
  CHECK(requires_grad(y));
  CHECK_FALSE(grad_fn(y));
}

struct Doubles : Function<Doubles> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    x *= 2;
    ctx.mark_dirty({x});
    return x;
  }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad * 2; }
};

TEST_CASE("an input that was written to and marked dirty is the result itself") {
  const Tensor w = leaf();
  const Tensor x = inner(w);
  const uint32_t version = x.version();
  const Tensor y = Doubles::apply(x);
  CHECK(y.is_same(x));
  CHECK(x.version() == version + 2);
  CHECK_THAT(grad_fn(x)->name(), Contains("Doubles backward"));
  backward(sum(y));
  CHECK(grad_values(w) == Floats{2, 2});
}

TEST_CASE("a leaf that requires a gradient must not be written to") {
  CHECK_THAT(error_of([&] { Doubles::apply(leaf()); }),
             Contains("a leaf that requires a gradient"));
  const Tensor x = leaf();
  const NoGradGuard no_grad;
  const Tensor y = Doubles::apply(x);
  CHECK_FALSE(requires_grad(y));
  CHECK(values(x) == Floats{2, 2});
}

TEST_CASE("a view that was written to changes the gradient of its base") {
  const Tensor w = leaf({2, 2});
  const Tensor x = inner(w);
  const Tensor row = select(x, 0, 0);
  CHECK(Doubles::apply(row).is_same(row));
  backward(sum(x));
  CHECK(grad_values(w) == Floats{2, 2, 1, 1});
}

struct AddsTo : Function<AddsTo> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x, const Tensor& z) {
    x += z;
    ctx.mark_dirty({x});
    return x;
  }
  static std::vector<Tensor> backward(FunctionContext&, const Tensor& grad) {
    return {grad * 2, grad * 3};
  }
};

TEST_CASE("a view that was written to passes gradients on to the other inputs") {
  const Tensor w = leaf({2, 2}), z = leaf();
  const Tensor x = inner(w);
  AddsTo::apply(select(x, 0, 1), z);
  backward(sum(x));
  CHECK(grad_values(w) == Floats{1, 1, 2, 2});
  CHECK(grad_values(z) == Floats{3, 3});

  const Tensor plain = ones({2, 2});
  AddsTo::apply(select(plain, 0, 1), z);
  CHECK(requires_grad(plain));
  set_grad(z, Tensor());
  backward(sum(plain * 5));
  CHECK(grad_values(z) == Floats{15, 15});
}

struct DirtyAndMore : Function<DirtyAndMore> {
  static std::vector<Tensor> forward(FunctionContext& ctx, const Tensor& x) {
    x *= 2;
    ctx.mark_dirty({x});
    return {x, clone(x)};
  }
  static Tensor backward(FunctionContext&, TensorList grads) { return grads[0] * 2 + grads[1] * 2; }
};
struct DirtyUnreturned : Function<DirtyUnreturned> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    ctx.mark_dirty({x});
    return clone(x);
  }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad; }
};
struct DirtyOther : Function<DirtyOther> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    const Tensor y = x * 2;
    ctx.mark_dirty({y});
    return y;
  }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad * 2; }
};

TEST_CASE("marks of written inputs must fit") {
  const Tensor w = leaf({2, 2});
  const Tensor x = inner(w);
  CHECK_THAT(error_of([&] { DirtyAndMore::apply(select(x, 0, 0)); }),
             Contains("is a view, and there are several results"));
  CHECK_THAT(error_of([&] { DirtyUnreturned::apply(x); }), Contains("is not among the results"));
  const std::vector<Tensor> both = DirtyAndMore::apply(x);
  CHECK(both[0].is_same(x));
  backward(sum(both[0] + both[1]));
  CHECK(grad_values(w) == Floats{4, 4, 4, 4});
  CHECK_THAT(grad_fn(DirtyOther::apply(leaf()))->name(), Contains("DirtyOther"));  // no effect
}

struct UnmarksInput : Function<UnmarksInput> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x, int64_t how) {
    const Tensor y = how == 0 ? x : how == 1 ? view(x, {-1}) : x;
    if (how == 2) {
      x *= 2;
      ctx.mark_dirty({x});
    }
    ctx.mark_non_differentiable({y});
    return y;
  }
  static std::vector<Tensor> backward(FunctionContext&, const Tensor&) { return {}; }
};

TEST_CASE("an input that is returned without a gradient is detached; a view of one is not") {
  const Tensor x = leaf();
  const Tensor y = UnmarksInput::apply(x, int64_t{0});
  CHECK_FALSE(y.is_same(x));
  CHECK(y.is_alias_of(x));
  CHECK_FALSE(requires_grad(y));
  CHECK(requires_grad(x));

  const Tensor v = UnmarksInput::apply(x, int64_t{1});
  CHECK(requires_grad(v));
  CHECK_FALSE(grad_fn(v));
  CHECK(base_of(v).is_same(x));

  const Tensor z = inner(leaf());
  const Tensor w = UnmarksInput::apply(z, int64_t{2});
  CHECK_FALSE(w.is_same(z));
  CHECK_FALSE(requires_grad(w));
  CHECK_THAT(grad_fn(z)->name(), Contains("aten::mul"));
}

struct SameTwice : Function<SameTwice> {
  static std::vector<Tensor> forward(FunctionContext&, const Tensor& x, bool input) {
    const Tensor y = input ? x : x * 2;
    return {y, y};
  }
  static std::vector<Tensor> backward(FunctionContext&, const Tensor& g, const Tensor& h) {
    seen = {g, h};
    return {g + h, Tensor()};
  }
};

TEST_CASE("a tensor that is returned twice is the second result; an input two views") {
  const Tensor x = leaf();
  auto y = SameTwice::apply(x, false);
  CHECK(y[0].is_same(y[1]));
  backward(sum(y[0] + y[1] * 3));
  CHECK(values(seen[0]) == Floats{0, 0});
  CHECK(values(seen[1]) == Floats{4, 4});
  y = SameTwice::apply(x, true);
  CHECK_FALSE(y[0].is_same(y[1]));
  backward(sum(y[0] + y[1] * 3));
  CHECK(values(seen[0]) == Floats{1, 1});
  CHECK(values(seen[1]) == Floats{3, 3});
}

struct ViewAndMore : Function<ViewAndMore> {
  static std::vector<Tensor> forward(FunctionContext&, const Tensor& x) {
    return {view(x, {-1}), x * 2};
  }
  static Tensor backward(FunctionContext&, const Tensor& g, const Tensor& h) {
    return view(g, {2, 2}) + h;
  }
};

TEST_CASE("one of several results that is a view must not be written to, a new one may") {
  const Tensor x = leaf({2, 2});
  const std::vector<Tensor> y = ViewAndMore::apply(x);
  CHECK_THAT(error_of([&] { y[0] *= 2; }), Contains("one of several views"));
  y[1] *= 2;
  backward(sum(y[1]));
  CHECK(grad_values(x) == Floats{2, 2, 2, 2});
}

struct ResultAndView : Function<ResultAndView> {
  static std::vector<Tensor> forward(FunctionContext&, const Tensor& x) {
    const Tensor y = x * 2;
    return {y, view(y, {2, 1})};
  }
  static Tensor backward(FunctionContext&, const Tensor& g, const Tensor& h) {
    return g * 2 + view(h, {2}) * 100;
  }
};

TEST_CASE("a result that is a view of another has no gradient once that was written to") {
  const Tensor x = leaf();
  const std::vector<Tensor> y = ResultAndView::apply(x);
  y[0] *= 3;
  CHECK_THAT(error_of([&] { backward(sum(y[1])); }),
             Contains("is one of several views that an operator returned at once") &&
                 Contains("has been written to since"));
  backward(sum(y[0]));
  CHECK(grad_values(x) == Floats{6, 6});
}

struct Records : Function<Records> {
  static Tensor forward(FunctionContext&, const Tensor& x) {
    const GradModeGuard on(true);
    return x * 2;
  }
  static Tensor backward(FunctionContext&, const Tensor& grad) { return grad * 7; }
};

TEST_CASE("what forward recorded itself is not what the result came from") {
  const Tensor x = leaf();
  const Tensor y = Records::apply(x);
  CHECK_THAT(grad_fn(y)->name(), Contains("Records backward"));
  backward(sum(y));
  CHECK(grad_values(x) == Floats{7, 7});
  const NoGradGuard no_grad;
  const Tensor z = Records::apply(x);
  CHECK_FALSE(requires_grad(z));
}

TEST_CASE("hooks see the gradient of a Function's result") {
  const Tensor x = leaf();
  const Tensor y = ReturnsInput::apply(x);
  register_hook(y, [](const Tensor& grad) { return grad * 10; });
  backward(sum(y));
  CHECK(grad_values(x) == Floats{20, 20});
}

// An operator whose schema says that it returns its argument, with one kernel: at AutogradCPU.
TEST_CASE("an operator that aliases its argument has a Function at an autograd key") {
  Library library(Library::Kind::Def, "function_test");
  library.define("returns_self(Tensor(a) x) -> Tensor(a)");
  library.define("aliasing(Tensor(a) x) -> Tensor(a)");
  struct Half : Function<Half> {
    static Tensor forward(FunctionContext&, const Tensor& x, bool as_view) {
      return as_view ? view(x, x.sym_sizes()) : x;
    }
    static std::vector<Tensor> backward(FunctionContext&, const Tensor& grad) {
      return {grad * 0.5, Tensor()};
    }
  };
  library.impl("returns_self", DispatchKey::AutogradCPU,
               [](const Tensor& x) { return Half::apply(x, false); });
  library.impl("aliasing", DispatchKey::AutogradCPU,
               [](const Tensor& x) { return Half::apply(x, true); });
  for (const char* name : {"function_test::returns_self", "function_test::aliasing"}) {
    CAPTURE(name);
    const OperatorHandle op = default_dispatcher().find_op_or_throw(name);
    const Tensor x = leaf();
    const Tensor y = op.call({x})[0].to_tensor();
    CHECK(y.is_alias_of(x));
    CHECK(base_of(y).is_same(x));
    backward(sum(y));
    CHECK(grad_values(x) == Floats{0.5, 0.5});
  }
}

}  // namespace
}  // namespace sb
