#include "switchboard/autograd/function.h"

#include <cstdint>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"

// What is expected here is what PyTorch 1.13's torch.autograd.Function answers.

namespace sb {
namespace {

using Catch::Contains;

Tensor leaf(std::vector<SymInt> sizes = {2}) {
  Tensor t = ones(sizes);
  set_requires_grad(t);
  return t;
}
std::vector<float> values(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}
std::vector<float> grad_values(const Tensor& leaf) { return values(grad_of(leaf)); }
using Floats = std::vector<float>;

BackwardOptions retain(bool graph) {
  BackwardOptions options;
  options.retain_graph = graph;
  return options;
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct Square : Function<Square> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    CHECK_FALSE(is_grad_enabled());
    ctx.save_for_backward({x});
    return x * x;
  }
  static Tensor backward(FunctionContext& ctx, const Tensor& grad) {
    return grad * (ctx.saved_tensors()[0] * 2);
  }
};

TEST_CASE("backward runs in the place of what forward called") {
  const Tensor x = leaf();
  const Tensor y = Square::apply(x);
  CHECK(requires_grad(y));
  CHECK_THAT(grad_fn(y)->name(), Contains("Square backward"));
  backward(sum(y));
  CHECK(grad_values(x) == Floats{2, 2});
}

TEST_CASE("a Function is not recorded under no_grad, nor for inputs that require nothing") {
  const Tensor x = leaf();
  CHECK_FALSE(requires_grad(Square::apply(ones({2}))));
  const NoGradGuard no_grad;
  const Tensor y = Square::apply(x);
  CHECK_FALSE(requires_grad(y));
  CHECK(values(y) == Floats{1, 1});
}

TEST_CASE("a backward made of operators is derived again") {
  const Tensor x = full({3}, 0.7, DType::Float64);
  set_requires_grad(x);
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Square::apply(in[0])};
  };
  CHECK_NOTHROW(gradcheck(f, {x}));
  CHECK_NOTHROW(gradgradcheck(f, {x}));
}

struct SavesAll : Function<SavesAll> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x) {
    const Tensor y = exp(x);
    ctx.save_for_backward({ones({7})});  // replaced
    ctx.save_for_backward({x, y, Tensor(), full({2}, 3)});
    CHECK_THROWS_WITH(ctx.saved_tensors(), Contains("before forward had returned"));
    return y;
  }
  static Tensor backward(FunctionContext& ctx, const Tensor& grad) {
    const std::vector<Tensor> saved = ctx.saved_tensors();
    REQUIRE(saved.size() == 4);
    CHECK(requires_grad(saved[0]));
    CHECK_THAT(grad_fn(saved[1])->name(), Contains("SavesAll backward"));
    CHECK_FALSE(saved[2].defined());
    CHECK_FALSE(requires_grad(saved[3]));
    CHECK_THROWS_WITH(ctx.set("late", 1), Contains("set was called after forward had returned"));
    CHECK_THROWS_WITH(ctx.save_for_backward({}), Contains("after forward had returned"));
    return grad * saved[1];
  }
};

TEST_CASE("inputs, outputs, others and undefined tensors can be saved") {
  const Tensor x = zeros({2});
  set_requires_grad(x);
  const Tensor y = SavesAll::apply(x);
  backward(sum(y), retain(true));
  backward(sum(y), retain(true));
  CHECK(grad_values(x) == Floats{2, 2});
}

TEST_CASE("a saved output does not keep its node alive") {
  NodePtr node;
  {
    const Tensor y = SavesAll::apply(leaf());
    node = grad_fn(y);
  }
  CHECK(node->use_count() == 1);
}

TEST_CASE("what is saved is freed by backward, and is an error then") {
  const Tensor x = leaf();
  const Tensor y = Square::apply(x);
  backward(sum(y), retain(false));
  CHECK_THAT(error_of([&] { backward(sum(y)); }),
             Contains("Square backward: what was saved for it"));
}

TEST_CASE("what is saved must not be written to") {
  const Tensor x = leaf();
  const Tensor y = SavesAll::apply(x);
  y *= 2;
  CHECK_THAT(error_of([&] { backward(sum(y)); }),
             Contains("has been modified by an inplace operation, aten::mul_.Scalar"));
}

std::vector<Tensor> seen;  // by a backward

struct OneOfTwo : Function<OneOfTwo> {
  static std::tuple<Tensor, Tensor> forward(FunctionContext& ctx, const Tensor& x, bool materialize,
                                            bool mark) {
    const Tensor y = x * 2, z = x * 3;
    ctx.set_materialize_grads(materialize);
    if (mark) ctx.mark_non_differentiable({z});
    CHECK(ctx.needs_input_grad(0));
    return {y, z};
  }
  static std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& g, const Tensor& h) {
    seen = {g, h};
    CHECK(ctx.needs_input_grad(0));
    CHECK_FALSE(ctx.needs_input_grad(1));
    CHECK_THROWS_AS(ctx.needs_input_grad(3), IndexError);
    return {g * 2, Tensor(), Tensor(), Tensor()};  // an undefined one too many
  }
};

TEST_CASE("a result that was marked has no gradient") {
  const Tensor x = leaf();
  const auto [y, z] = OneOfTwo::apply(x, true, true);
  CHECK(requires_grad(y));
  CHECK_FALSE(requires_grad(z));
  backward(sum(y));
  CHECK(values(seen[1]) == Floats{0, 0});
  CHECK(grad_values(x) == Floats{2, 2});
}

TEST_CASE("gradients that do not come are zeros, or undefined if the Function wants them so") {
  const Tensor x = leaf();
  backward(sum(std::get<0>(OneOfTwo::apply(x, true, false))));
  CHECK(values(seen[0]) == Floats{1, 1});
  CHECK(values(seen[1]) == Floats{0, 0});
  backward(sum(std::get<0>(OneOfTwo::apply(x, false, false))));
  CHECK_FALSE(seen[1].defined());
}

struct Mixed : Function<Mixed> {
  static std::tuple<Tensor, int64_t, std::vector<Tensor>, Tensor> forward(FunctionContext&,
                                                                          const Tensor& x) {
    return {x * 2, 5, {x * 3, x * 4}, arange(3)};
  }
  static Tensor backward(FunctionContext&, const Tensor& g, const Tensor& number,
                         const std::vector<Tensor>& list, const Tensor& integers) {
    CHECK_FALSE(number.defined());
    CHECK(integers.dtype() == DType::Int64);
    return g * 2 + list[0] * 3 + list[1] * 4;
  }
};

TEST_CASE("results may be lists, integers and other values") {
  const Tensor x = leaf();
  const auto [y, number, list, integers] = Mixed::apply(x);
  CHECK(number == 5);
  CHECK_FALSE(requires_grad(integers));
  backward(sum(y + list[1]));
  CHECK(grad_values(x) == Floats{6, 6});
}

struct Weighted : Function<Weighted> {
  static Tensor forward(FunctionContext& ctx, TensorList list, const std::optional<Tensor>&,
                        double factor) {
    ctx.set("factor", factor);
    CHECK(ctx.needs_input_grad(0));
    CHECK_FALSE(ctx.needs_input_grad(0, 0));
    CHECK(ctx.needs_input_grad(0, 1));
    CHECK_FALSE(ctx.needs_input_grad(1));
    return (list[0] + list[1]) * factor;
  }
  static std::tuple<std::vector<Tensor>, Tensor, Tensor> backward(FunctionContext& ctx,
                                                                  const Tensor& grad) {
    CHECK_THROWS_WITH(ctx.get("bias"), Contains("nothing was set under the name 'bias'"));
    const Tensor g = grad * ctx.get("factor").to_double();
    return {{g, g * 10}, Tensor(), Tensor()};
  }
};

TEST_CASE("lists of tensors are inputs, and attributes go from forward to backward") {
  const Tensor x = leaf();
  backward(sum(Weighted::apply(std::vector<Tensor>{ones({2}), x}, std::optional<Tensor>(), 3.0)));
  CHECK(grad_values(x) == Floats{30, 30});
}

struct Count : Function<Count> {
  static Tensor forward(FunctionContext& ctx, const Tensor& x, int64_t n) {
    ctx.set("n", n);
    return x * 2;
  }
  static std::vector<Tensor> backward(FunctionContext& ctx, const Tensor& g) {
    switch (ctx.get("n").to_int()) {
      case 1:
        return {g};
      case 2:
        return {g, g};
      case 3:
        return {g, Tensor(), g};
      case 4:
        return {g, Tensor(), Tensor()};
      case 5:
        return {ones({7}), Tensor()};
    }
    return {};
  }
};

TEST_CASE("backward gives a gradient for each input, and nothing for what is no tensor") {
  const auto run = [](int64_t n) {
    return error_of([n] { backward(sum(Count::apply(leaf(), n))); });
  };
  CHECK_THAT(run(0), Contains("Count backward: expected 2 gradients, one for each input, got 0"));
  CHECK_THAT(run(1), Contains("expected 2 gradients, one for each input, got 1"));
  CHECK_THAT(run(2), Contains("Count backward: gradient 1: expected None, as input 1 is no tensor, "
                              "got float32[2] on cpu"));
  CHECK_THAT(run(3), Contains("expected 2 gradients, one for each input, got 3"));
  CHECK(run(4) == "no error");
  CHECK_THAT(run(5), Contains("Count backward: gradient 0: sum_to_size: size [2] does not "
                              "broadcast to "));
}

struct TooFewParameters : Function<TooFewParameters> {
  static std::vector<Tensor> forward(FunctionContext&, const Tensor& x) { return {x * 2, x * 3}; }
  static Tensor backward(FunctionContext&, const Tensor& g) { return g; }
};

TEST_CASE("a backward without a parameter for each result is found out at the first call") {
  CHECK_THAT(error_of([] { TooFewParameters::apply(ones({2})); }),
             Contains("expected a parameter for the gradient of each of 2 results, got 1"));
}

TEST_CASE("several threads go backward through one call") {
  const Tensor x = leaf();
  const Tensor y = Square::apply(x);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { backward(sum(y), retain(true)); });
  for (std::thread& thread : threads) thread.join();
  CHECK(grad_values(x) == Floats{8, 8});
}

}  // namespace
}  // namespace sb
