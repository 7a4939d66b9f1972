#include "switchboard/ops/autocast/autocast.h"

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/transforms/higher_order/wrap_with_autocast.h"

namespace sb {
namespace {

using Catch::Contains;

Tensor of(DType dtype) { return ones({2, 2}, TensorOptions(dtype, Device("cpu"))); }

TEST_CASE("products run in the dtype of the region, sums of products too big for it in float32") {
  const Tensor x = of(DType::Float32), half = of(DType::BFloat16);
  CHECK(mm(x, x).dtype() == DType::Float32);
  const AutocastGuard autocast("cpu");
  CHECK(mm(x, x).dtype() == DType::BFloat16);
  CHECK(prod_all(half, std::nullopt).dtype() == DType::Float32);
  CHECK(add(x, x).dtype() == DType::Float32);  // no policy
  CHECK(mm(of(DType::Float64), of(DType::Float64)).dtype() == DType::Float64);
}

TEST_CASE("guards nest, turn it off, and give back the dtype from before") {
  const Tensor x = of(DType::Float32);
  CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
  {
    const AutocastGuard outer("cpu", DType::Float16);
    {
      const AutocastGuard off("cpu", DType::BFloat16, false);
      CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
      CHECK(mm(x, x).dtype() == DType::Float32);
      const AutocastGuard again("cpu");
      CHECK(mm(x, x).dtype() == DType::BFloat16);
    }
    CHECK(autocast_dtype(DeviceType::CPU) == DType::Float16);
    CHECK(mm(x, x).dtype() == DType::Float16);
  }
  CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
  CHECK(autocast_dtype(DeviceType::CPU) == DType::BFloat16);
}

TEST_CASE("gradients go back through the casts") {
  Tensor x = of(DType::Float32);
  set_requires_grad(x);
  Tensor y;
  {
    const AutocastGuard autocast("cpu");
    y = mm(x, x);
  }
  backward(sum(y));
  CHECK(grad_of(x).dtype() == DType::Float32);
}

TEST_CASE("on another device the policies are not here, and an operator that has one says so") {
  const Tensor x = empty({2, 2}, TensorOptions(DType::Float32, Device("cpu")));
  const AutocastGuard autocast("cuda");
  CHECK(mm(x, x).dtype() == DType::Float32);  // not on that device
  Stack stack = {x, x};
  CHECK_THROWS_WITH(mm.handle().redispatch_boxed(DispatchKey::AutocastCUDA, &stack),
                    Contains("aten::mm: autocast at AutocastCUDA: only the CPU has policies"));
}

TEST_CASE("autocast is for some device types and two dtypes") {
  CHECK(is_autocast_available(DeviceType::CUDA));
  CHECK_FALSE(is_autocast_available(DeviceType::Meta));
  CHECK_THROWS_AS(AutocastGuard("meta"), ValueError);
  CHECK_THROWS_WITH(AutocastGuard("cpu", DType::Float32),
                    "autocast: expected bfloat16 or float16, got float32");
  CHECK_FALSE(is_autocast_enabled(DeviceType::CPU));
  CHECK(autocast_dtype(DeviceType::CPU) == DType::BFloat16);
}

TEST_CASE("a region of a graph turns it on when the graph runs, and its gradients go back") {
  const auto program = [](const std::vector<Tensor>& in) {
    return wrap_with_autocast("cpu", std::nullopt, true, [](const Tensor& x) { return mm(x, x); },
                              {in[0]});
  };
  const Tensor x = of(DType::Float32);
  CHECK(program({x})[0].dtype() == DType::BFloat16);
  const Graph graph = trace(program, {x});
  CHECK_THAT(graph.to_string(), Contains("wrap_with_autocast('cpu', None, True, True, wrap_body"));
  CHECK(graph.run({x})[0].dtype() == DType::BFloat16);
  set_requires_grad(x);
  CHECK(grad({sum(graph.run({x})[0])}, {x})[0].dtype() == DType::Float32);
  CHECK_THROWS_WITH(wrap_with_autocast_hop()(Callable::make([](auto v) { return v; }), {x},
                                             {"cpu", 3, true, true}),
                    "higher_order::wrap_with_autocast: dtype: expected a dtype or None, got Int");
}

}  // namespace
}  // namespace sb
