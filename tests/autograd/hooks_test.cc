// Hooks on tensors and nodes, and what backward keeps for tensors that are no leaves.

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Catch::Contains;
using test::values_of;
using Values = std::vector<double>;

Tensor leaf(double value = 1) {
  Tensor t = full({2}, value);
  set_requires_grad(t);
  return t;
}
Tensor times(const Tensor& x, double factor) { return mul_Scalar(x, factor); }

TEST_CASE("a hook gives a gradient of the same sizes and dtype, or none") {
  const Tensor other = GENERATE(as<Tensor>(), ones({1}), ones({3}), ones({2}, DType::Float64));
  const Tensor x = leaf(), y = times(x, 2);
  const bool of_leaf = GENERATE(true, false);
  register_hook(of_leaf ? x : y, [&](const Tensor&) { return other; });
  CHECK_THROWS_WITH(
      backward(sum_all(y)),
      Contains("hook: expected a gradient like the one that it was given, float32[2] on cpu, got"));
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("a hook of a node leaves as many gradients as it was given") {
  const Tensor x = leaf(), y = times(x, 2);
  SECTION("on their way in") {
    grad_fn(y)->add_pre_hook([](TensorVector& grads) { grads.clear(); });
    retain_grad(y);  // a hook, too
    CHECK_THROWS_WITH(backward(sum_all(y)),
                      "aten::mul.Scalar backward: hook: expected to get 1 gradients back, got 0");
  }
  SECTION("on their way out") {
    grad_fn(y)->add_post_hook([](TensorVector& grads, const TensorVector&) { grads.clear(); });
    CHECK_THROWS_WITH(backward(sum_all(y)),
                      "aten::mul.Scalar backward: hook: expected to get 1 gradients back, got 0");
  }
  SECTION("of a leaf's node") {
    const NodePtr node = gradient_edge(x).node;
    node->add_pre_hook([](TensorVector& grads) { grads.resize(2); });
    CHECK_THROWS_WITH(backward(sum_all(y)),
                      "AccumulateGrad: hook: expected to get 1 gradients back, got 2");
  }
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("grad gives gradients before hooks of the inputs see them") {
  const Tensor x = leaf(), y = times(x, 2);
  for (const Tensor& t : {x, y}) register_hook(t, [](const Tensor& g) { return times(g, 10); });
  const std::vector<Tensor> grads = grad({sum_all(times(y, 3))}, {x, x, y});
  CHECK(values_of(grads[0]) == Values{60, 60});
  CHECK(values_of(grads[1]) == Values{60, 60});
  CHECK(values_of(grads[2]) == Values{3, 3});
}

TEST_CASE("backward into inputs runs their hooks, and adds once to an input that is named twice") {
  const Tensor x = leaf(), y = times(x, 2);
  for (const Tensor& t : {x, y}) register_hook(t, [](const Tensor& g) { return times(g, 10); });
  BackwardOptions options;
  options.inputs = {x, y, x};
  backward(sum_all(times(y, 3)), options);
  CHECK(values_of(grad_of(x)) == Values{600, 600});
  CHECK(values_of(grad_of(y)) == Values{30, 30});
}

TEST_CASE("what retain_grad keeps adds up, and is nobody else's") {
  const Tensor x = leaf(), y = times(x, 2);
  retain_grad(y);
  const Tensor begin = ones({2});
  BackwardOptions retain;
  retain.retain_graph = true;
  backward({y}, {begin}, retain);
  const Tensor first = grad_of(y);
  backward({y}, {begin});
  CHECK(values_of(grad_of(y)) == Values{2, 2});
  CHECK(values_of(first) == Values{1, 1});
  CHECK_FALSE(first.is_alias_of(begin));
}

TEST_CASE("the gradient that backward begins with takes the dtype of the tensor") {
  const Tensor x = leaf();
  backward({x}, {ones({2}, DType::Float64)});
  CHECK(grad_of(x).dtype() == DType::Float32);
  backward({x}, {ones({2}, DType::Int64)});
  CHECK(values_of(grad_of(x)) == Values{2, 2});
  const Tensor elsewhere = ones({2}, TensorOptions(DType::Float32, Device(DeviceType::Meta)));
  CHECK_THROWS_WITH(backward({x}, {elsewhere}), Contains("expected it on cpu, got"));
}

TEST_CASE("a mode may ask for the gradient that is being added to") {
  class Asks : public DispatchMode {
   public:
    explicit Asks(Tensor x) : x_(std::move(x)) {}
    std::string name() const override { return "Asks"; }
    void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
      seen += grad_of(x_).defined();
      op.call_boxed(stack);
    }
    size_t seen = 0;

   private:
    Tensor x_;
  };
  const Tensor x = leaf();
  backward(sum_all(x));
  const Tensor y = sum_all(times(x, 2));
  Asks mode(x);
  {
    const ModeGuard guard(&mode);
    backward(y);
  }
  CHECK(mode.seen > 0);
  CHECK(values_of(grad_of(x)) == Values{3, 3});
}

TEST_CASE("a graph whose hooks hold its tensors is destroyed without recursion") {
  const Tensor x = leaf();
  Tensor y = times(x, 1);
  for (int i = 0; i < 200'000; ++i) {
    const Tensor next = neg(y);
    register_hook(next, [y](const Tensor&) { return Tensor(); });
    y = next;
  }
  CHECK(requires_grad(y));
}

Tensor kept_to_the_end;

TEST_CASE("a static tensor may keep a graph until the process ends") {
  kept_to_the_end = leaf();
  for (int i = 0; i < 1000; ++i) kept_to_the_end = add(neg(kept_to_the_end), kept_to_the_end);
  CHECK(requires_grad(kept_to_the_end));
}

TEST_CASE("a pass whose graph another thread frees throws, or gives what can be derived again") {
  for (int i = 0; i < 50; ++i) {
    const Tensor x = leaf(), y = sum_all(mul(x, x));
    std::thread frees([&] { backward(y); });
    GradOptions options;
    options.create_graph = true;
    try {
      const Tensor g = grad({y}, {x}, {}, options)[0];
      CHECK(requires_grad(g));
    } catch (const RuntimeError& error) {
      CHECK_THAT(error.what(), Contains("has been freed"));
    }
    frees.join();
  }
}

}  // namespace
}  // namespace sb
