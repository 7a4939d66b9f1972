#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/function.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/vmap/examples.h"
#include "switchboard/transforms/vmap/derivatives/func_grad.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

Tensor loss(const Tensor& w, const Tensor& x) { return sum_all(tanh(mv(x, w)) * mv(x, w)); }

TEST_CASE("gradients pass through vmap, of inputs and of what its function captures") {
  const Tensor x = numbers({3, 2, 4}, 0, 0.1), w = numbers({4}, -1, 0.5), v = numbers({3, 4});
  for (const Tensor& t : {x, w, v}) set_requires_grad(t);
  const auto f = [&](const Tensors& in) {
    return Tensors{loss(w, in[0]) + sum_all(select(in[0], 0, 0) * in[1])};
  };
  const Tensors by_loop = grad({loop(f, {x, v})[0]}, {x, w, v}, {numbers({3})});
  const Tensors by_vmap = grad({vmap(f, {x, v})[0]}, {x, w, v}, {numbers({3})});
  for (size_t i = 0; i < by_loop.size(); ++i) CHECK(same(by_vmap[i], by_loop[i]));
}

TEST_CASE("a gradient inside of vmap is one for each example") {
  const Tensor w = numbers({4}, -1, 0.5), x = numbers({3, 2, 4}, 0, 0.1);
  const auto gradient = [](const Tensor& weights, const Tensor& in) {
    return func_grad(loss, {weights, in}, {0, 1});
  };
  const Tensors all = vmap(gradient, {w, x}, {.in_dims = {std::nullopt, 0}});
  for (int64_t i = 0; i < 3; ++i) {
    const Tensors one = gradient(w, select(x, 0, i));
    CHECK(same(select(all[0], 0, i), one[0]));
    CHECK(same(select(all[1], 0, i), one[1]));
  }
  CHECK_FALSE(requires_grad(all[0]));
  CHECK_FALSE(requires_grad(w));
}

TEST_CASE("gradients of gradients give second derivatives, through vmap and inside of it") {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const auto second = [&](const Tensor& x) {
    return func_grad([&](const Tensor& y) { return func_grad(cube, {y})[0]; }, {x});
  };
  const Tensor x = numbers({5});
  CHECK(same(vmap(second, {x})[0], x * 6));
  // Of what is outside, too.
  set_requires_grad(x);
  const Tensor first = vmap([&](const Tensor& y) { return func_grad(cube, {y}); }, {x})[0];
  CHECK(same(grad({first}, {x}, {ones({5})})[0], x * 6));
}

TEST_CASE("a function that does not depend on an input has a gradient of zeros") {
  const auto f = [](const Tensor&, const Tensor& y) { return sum_all(y); };
  CHECK(same(func_grad(f, {numbers({2}), numbers({3})})[0], zeros({2})));
  CHECK(message_of([&] {
          func_grad(f, {numbers({2}), numbers({3})}, {2});
        }) ==
        "IndexError: func_grad: argnums: expected a number below 2, the number of inputs, got 2");
  CHECK(message_of([] { func_grad([](const Tensor& x) { return x; }, {numbers({2})}); }) ==
        "RuntimeError: func_grad: f: expected a result without dimensions, got float32[2] on cpu");
}

TEST_CASE("a batch of gradients goes backward at once") {
  const Tensor x = numbers({3}, 0.5);
  set_requires_grad(x);
  const Tensor y = x * x;
  const Tensor jacobian = vmap(
      [&](const Tensor& v) { return grad({y}, {x}, {v}, {.retain_graph = true}); }, {eye(3)})[0];
  CHECK(same(jacobian, eye(3) * (x * 2)));
  CHECK_THAT(message_of([&] {
               vmap(
                   [&](const Tensor& v) {
                     backward({y}, {v}, {.retain_graph = true});
                     return v;
                   },
                   {eye(3)});
             }),
             Contains("RuntimeError: backward: the gradient of float32[3] on cpu differs from one "
                      "example of a vmap to the next"));
}

struct Square : Function<Square> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x;
  }
  static Tensor backward(FunctionContext& ctx, const Tensor& grad) {
    return grad * ctx.saved_tensors()[0] * 2;
  }
};

TEST_CASE("what would lose a gradient inside of vmap is refused") {
  const Tensor x = numbers({3, 2});
  CHECK_THAT(message_of([&] { vmap([](const Tensor& y) { return Square::apply(y); }, {x}); }),
             Contains("inside of vmap there is no rule for a Function, which got float32[2]"));
  CHECK_THAT(message_of([&] {
               vmap(
                   [](const Tensor& y) {
                     set_requires_grad(y);
                     return y;
                   },
                   {x});
             }),
             Contains("set_requires_grad: expected a tensor that is not batched"));
}

}  // namespace
}  // namespace sb::test
