#include "switchboard/autograd/backward.h"

#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/inspector.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::tensor_of;
using test::values_of;
using Values = std::vector<double>;

Tensor leaf(std::vector<int64_t> sizes, const Values& values, DType dtype = DType::Float64) {
  Tensor t = tensor_of(std::move(sizes), values, dtype);
  set_requires_grad(t);
  return t;
}

TEST_CASE("backward adds the gradient of each leaf to what it has") {
  const Tensor x = leaf({2}, {3, 4});
  backward(sum_all(mul(x, x)));
  CHECK(values_of(grad_of(x)) == Values{6, 8});
  backward(sum_all(mul(x, x)));
  CHECK(values_of(grad_of(x)) == Values{12, 16});
  set_grad(x, {});
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("a tensor that is used several times gets the sum of its gradients") {
  const Tensor x = leaf({}, {3});
  backward(add(mul(x, x), add(x, x)));
  CHECK(values_of(grad_of(x)) == Values{8});
}

TEST_CASE("what was broadcast is summed, and gradients have the dtype of their tensor") {
  const Tensor x = leaf({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = leaf({3}, {1, 1, 1}, DType::Float32);
  backward({mul(x, y)}, {ones({2, 3}, DType::Float64)});
  CHECK(grad_of(y).dtype() == DType::Float32);
  CHECK(values_of(grad_of(y)) == Values{5, 7, 9});
  CHECK(values_of(grad_of(x)) == Values{1, 1, 1, 1, 1, 1});
}

TEST_CASE("grad gives the gradients of inputs, leaves or not, and accumulates nothing") {
  const Tensor x = leaf({}, {3});
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, x);
  const std::vector<Tensor> grads = grad({z}, {x, y});
  CHECK(values_of(grads[0]) == Values{27});
  CHECK(values_of(grads[1]) == Values{3});
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("grad runs only what leads to its inputs") {
  const Tensor x = leaf({}, {3});
  const Tensor y = leaf({}, {5});
  bool ran = false;
  register_hook(y, [&](const Tensor& g) {
    ran = true;
    return g;
  });
  CHECK(values_of(grad({mul(x, y)}, {x})[0]) == Values{5});
  CHECK_FALSE(ran);
}

TEST_CASE("an input that outputs do not depend on is an error, or has no gradient") {
  const Tensor x = leaf({}, {3});
  const Tensor y = leaf({}, {5});
  CHECK_THROWS_WITH(grad({mul(x, x)}, {y}),
                    "grad: input 0: float64[] on cpu was not used to compute the outputs; "
                    "allow_unused gives an undefined gradient");
  GradOptions options;
  options.allow_unused = true;
  CHECK_FALSE(grad({mul(x, x)}, {y}, {}, options)[0].defined());
}

TEST_CASE("derivatives of derivatives: backward is recorded with create_graph") {
  const Tensor x = leaf({}, {2});
  GradOptions options;
  options.create_graph = true;
  const Tensor once = grad({mul(mul(x, x), x)}, {x}, {}, options)[0];
  CHECK(values_of(once) == Values{12});
  const Tensor twice = grad({once}, {x}, {}, options)[0];
  CHECK(values_of(twice) == Values{12});
  CHECK(values_of(grad({twice}, {x})[0]) == Values{6});
}

TEST_CASE("a graph runs once unless it is retained") {
  const Tensor x = leaf({}, {2});
  const Tensor y = mul(x, x);
  BackwardOptions retain;
  retain.retain_graph = true;
  backward(y, retain);
  backward(y);
  CHECK(values_of(grad_of(x)) == Values{8});
  CHECK_THROWS_WITH(backward(y),
                    "aten::mul.Tensor backward: what was saved for it has been freed; call the "
                    "first backward with retain_graph");
}

TEST_CASE("backward into some leaves leaves the others alone") {
  const Tensor x = leaf({}, {2});
  const Tensor y = leaf({}, {3});
  BackwardOptions options;
  options.inputs = {x};
  backward(mul(x, y), options);
  CHECK(values_of(grad_of(x)) == Values{3});
  CHECK_FALSE(grad_of(y).defined());
}

TEST_CASE("backward says what it cannot begin at") {
  const Tensor x = leaf({2}, {1, 2});
  CHECK_THROWS_WITH(backward(std::vector<Tensor>{}),
                    "backward: expected tensors to begin at, got none");
  CHECK_THROWS_WITH(backward(ones({})),
                    "backward: tensor 0: float32[] on cpu does not require a gradient and no "
                    "operator recorded made it");
  CHECK_THROWS_WITH(backward(mul(x, x)),
                    "backward: tensor 0: a gradient can be made up for a tensor of one element "
                    "only, got float64[2] on cpu; give its gradient");
  CHECK_THROWS_WITH(
      backward({mul(x, x)}, {ones({3}, DType::Float64)}),
      "backward: tensor 0: its gradient: expected the sizes of float64[2] on cpu, got "
      "float64[3] on cpu");
  CHECK_FALSE(grad_of(x).defined());
}

TEST_CASE("nothing is recorded under no_grad, and by a thread of its own") {
  const Tensor x = leaf({}, {2});
  {
    const NoGradGuard guard;
    CHECK_FALSE(requires_grad(mul(x, x)));
    bool recorded = false;
    std::thread([&] { recorded = requires_grad(mul(x, x)); }).join();
    CHECK(recorded);
  }
  CHECK(requires_grad(mul(x, x)));
}

TEST_CASE("detach gives a tensor of the same elements that requires nothing") {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = detach(mul(x, x));
  CHECK_FALSE(requires_grad(y));
  CHECK(is_leaf(y));
  const Tensor z = detach(x);
  CHECK(z.is_alias_of(x));
  CHECK_FALSE(base_of(z).defined());
}

TEST_CASE("a leaf that requires no gradient any more gets none from graphs made before") {
  const Tensor x = leaf({2}, {1, 2}), y = leaf({2}, {3, 4});
  const Tensor z = sum_all(mul(x, y));
  set_requires_grad(x, false);
  backward(z);
  CHECK_FALSE(grad_of(x).defined());
  CHECK(values_of(grad_of(y)) == Values{1, 2});
}

TEST_CASE("only leaves of differentiable dtypes can be told to require a gradient") {
  CHECK_THROWS_WITH(set_requires_grad(ones({2}, DType::Int64)),
                    "set_requires_grad: expected a floating point or complex dtype, got int64");
  const Tensor x = leaf({}, {2});
  CHECK_THROWS_WITH(set_requires_grad(mul(x, x), false),
                    "set_requires_grad: expected a leaf, got the output of aten::mul.Tensor "
                    "backward; detach() gives a tensor that does not require a gradient");
  CHECK_THROWS_AS(set_requires_grad(Tensor()), RuntimeError);
}

TEST_CASE("hooks see gradients, and may give others in their place") {
  const Tensor x = leaf({}, {2});
  const Tensor y = mul(x, x);
  Values seen;
  const auto remove_inner = register_hook(y, [&](const Tensor& g) {
    seen.push_back(values_of(g)[0]);
    return mul(g, g);
  });
  const auto remove_leaf = register_hook(x, [&](const Tensor& g) {
    seen.push_back(values_of(g)[0]);
    return Tensor();
  });
  BackwardOptions retain;
  retain.retain_graph = true;
  backward({y}, {full({}, 3.0, DType::Float64)}, retain);
  CHECK(seen == Values{3, 36});
  remove_inner();
  remove_leaf();
  backward({y}, {full({}, 3.0, DType::Float64)});
  CHECK(seen == Values{3, 36});
  CHECK(values_of(grad_of(x)) == Values{48});
}

TEST_CASE("retain_grad keeps the gradient of what is no leaf") {
  const Tensor x = leaf({}, {2});
  const Tensor y = mul(x, x);
  retain_grad(y);
  backward(mul(y, y));
  CHECK(values_of(grad_of(y)) == Values{8});
  CHECK_THROWS_AS(retain_grad(ones({})), RuntimeError);
}

TEST_CASE("retain_grad keeps the gradient of the value that a tensor was given last") {
  const Tensor x = leaf({}, {2});
  const Tensor y = mul(x, x);
  const Tensor row = view(y, {1});
  retain_grad(y);
  retain_grad(row);
  SECTION("written to itself") {
    mul_(y, full({}, 3.0, DType::Float64));  // y is 12
    backward(mul(y, y));
    CHECK(values_of(grad_of(y)) == Values{24});
  }
  SECTION("written to through a view") {
    mul_(row, full({}, 3.0, DType::Float64));
    backward(sum(mul(y, row)));
    CHECK(values_of(grad_of(row)) == Values{12});
    CHECK(values_of(grad_of(y)) == Values{24});
  }
  CHECK(values_of(grad_of(x)) == Values{36 * 8});  // of 9 x^4
}

TEST_CASE("a saved tensor that was written to is named with the operator that wrote") {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, y);
  add_(y, y);
  CHECK_THROWS_WITH(
      backward(sum_all(z)),
      Catch::Contains("aten::mul.Tensor backward: an input") &&
          Catch::Contains("has been modified by an inplace operation, aten::add_.Tensor (ops/") &&
          Catch::Contains("float64[2] on cpu is at version 1; expected version 0"));
}

TEST_CASE("writing to what no node saved is harmless") {
  const Tensor x = leaf({2}, {1, 2});
  const Tensor y = add(x, x);
  const Tensor z = add(y, y);
  mul_(y, full({}, 7.0, DType::Float64));
  backward(sum_all(z));
  CHECK(values_of(grad_of(x)) == Values{4, 4});
}

TEST_CASE("a graph of a million nodes runs and is destroyed without recursion") {
  const Tensor x = leaf({}, {1});
  Tensor y = x;
  for (int i = 0; i < 1'000'000; ++i) y = neg(y);
  backward(y);
  CHECK(values_of(grad_of(x)) == Values{1});
  y = Tensor();
}

TEST_CASE("a leaf goes with its last handle, though a graph led to it") {
  WeakIntrusivePtr<TensorImpl> weak;
  {
    const Tensor x = leaf({}, {3});
    weak = WeakIntrusivePtr<TensorImpl>(x.impl());
    backward(mul(x, x));
  }
  CHECK(weak.expired());
}

TEST_CASE("several threads go backward through shared nodes at once") {
  const Tensor x = leaf({4}, {1, 2, 3, 4});
  const Tensor shared = mul(x, x);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        BackwardOptions retain;
        retain.retain_graph = true;
        backward(sum_all(mul(shared, shared)), retain);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(values_of(grad_of(x)) == Values{800, 6400, 21600, 51200});
}

TEST_CASE("gradients are made where the tensors are") {
  const Device place = GENERATE(from_range(test::places()));
  const Tensor x = ones({2, 3}, TensorOptions(DType::Float32, place));
  set_requires_grad(x);
  backward(sum_all(mm(x, transpose(x, 0, 1))));
  CHECK(grad_of(x).device() == place);
  CHECK(test::sizes_of(grad_of(x)) == test::Sizes{2, 3});
  CHECK(test::holds(grad_of(x), {4, 4, 4, 4, 4, 4}));
}

TEST_CASE("explain shows the kernel that records") {
  const Tensor x = ones({});
  CHECK_THAT(to_string(explain(mul.handle(), x.key_set())),
             Catch::Contains("AutogradCPU") &&
                 Catch::Contains("ops/arithmetic/derivatives/arithmetic.cc"));
}

}  // namespace
}  // namespace sb
