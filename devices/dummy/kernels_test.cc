#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/streams.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/quantized/quantize.h"
#include "switchboard/ops/views/views.h"

namespace sb::dummy {
namespace {

using Floats = std::vector<float>;

TEST_CASE("contiguous float tensors are served by the device's kernels", "[dummy][kernels]") {
  const Tensor a = tensor_of<float>(kSecond, {2, 2}, {1, -2, 3, -4});
  const Tensor b = tensor_of<float>(kSecond, {2, 2}, {10, 20, 30, 40});
  reset_counts();
  CHECK(storage_of<float>(add(a, b)) == Floats{11, 18, 33, 36});
  CHECK(storage_of<float>(add(a, b, 0.5)) == Floats{6, 8, 18, 16});
  CHECK(storage_of<float>(mul(a, b)) == Floats{10, -40, 90, -160});
  CHECK(storage_of<float>(relu(a)) == Floats{1, 0, 3, 0});
  CHECK(storage_of<float>(mm(a, b)) == Floats{-50, -60, -90, -100});
  CHECK(add(a, b).device() == kSecond);
  CHECK(fill_(b, 7).is_same(b));
  CHECK(storage_of<float>(b) == Floats{7, 7, 7, 7});
  CHECK(fallback_counts().empty());
  CHECK(kernel_counts() == CallCounts{{"aten::add.Tensor", 3},
                                      {"aten::fill_.Scalar", 1},
                                      {"aten::mm", 1},
                                      {"aten::mul.Tensor", 1},
                                      {"aten::relu", 1}});
}

TEST_CASE("what the device's kernels do not serve is left to the CPU", "[dummy][kernels]") {
  const Tensor a = tensor_of<float>(kFirst, {2, 2}, {1, -2, 3, -4});
  const Tensor ints = tensor_of<int64_t>(kFirst, {2}, {5, 6});
  reset_counts();
  CHECK(storage_of<float>(add(a, ints)) == Floats{6, 4, 8, 2});       // broadcast, promoted
  CHECK(storage_of<float>(mul(a, t(a)))[1] == -6);                    // strided
  CHECK(storage_of<float>(mm(t(a), a)) == Floats{10, -14, -14, 20});  // strided
  CHECK(storage_of<int64_t>(fill_(ints, 3)) == std::vector<int64_t>{3, 3});
  CHECK(kernel_counts().count("aten::add.Tensor") == 0);
  CHECK(fallback_counts() == CallCounts{{"aten::add.Tensor", 1},
                                        {"aten::fill_.Scalar", 1},
                                        {"aten::mm", 1},
                                        {"aten::mul.Tensor", 1}});
}

TEST_CASE("the device quantizes with arithmetic of its own", "[dummy][kernels]") {
  const Tensor a = tensor_of<float>(kSecond, {4}, {1, -2, 0.25, 100});
  reset_counts();
  const Tensor q = quantize_per_tensor(a, 0.5, 1, DType::QInt8);
  CHECK(kernel_counts().at("aten::quantize_per_tensor") == 1);
  CHECK(q.device() == kSecond);
  CHECK(q.key_set().has(DispatchKey::QuantizedPrivateUse1));
  CHECK(storage_of<int8_t>(int_repr(q)) == std::vector<int8_t>{3, -3, 1, 127});
  CHECK(storage_of<float>(dequantize(q)) == Floats{1, -2, 0, 63});
}

TEST_CASE("kernels that run later give what they give at once, also between fallbacks",
          "[dummy][kernels]") {
  const auto run = [] {
    Tensor x = tensor_of<float>(kFirst, {2, 2}, {1, -2, 3, -4});
    for (int i = 0; i < 10; ++i) {
      x = relu(add(mm(x, x), x, 0.5));
      x = mul(x, t(x));  // the CPU's
      x = mul(abs(sub(x, x)), x);
      fill_(x, i);
      x = add(x, tensor_of<float>(kFirst, {2, 2}, {1, 2, 3, 4}));
    }
    return storage_of<float>(dequantize(quantize_per_tensor(x, 0.5, 1, DType::QInt8)));
  };
  const Floats expected = run();
  AsynchronousLaunches launches;
  CHECK(run() == expected);
  synchronize(kFirst);
}

TEST_CASE("a kernel of the device does not hide errors", "[dummy][kernels]") {
  const Tensor a = tensor_of<float>(kFirst, {2, 3}, Floats(6, 1));
  const Tensor elsewhere = tensor_of<float>(kSecond, {2, 3}, Floats(6, 1));
  CHECK_THROWS_AS(mm(a, a), RuntimeError);
  CHECK_THROWS_AS(fill_(a, 1e300), RuntimeError);
  CHECK_THROWS_WITH(add(a, elsewhere), Catch::Contains("aten::add.Tensor") &&
                                           Catch::Contains("dummy:0") &&
                                           Catch::Contains("dummy:1"));
  CHECK(storage_of<float>(a) == Floats(6, 1));
}

TEST_CASE("relu leaves NaN as it is", "[dummy][kernels]") {
  const Tensor x = tensor_of<float>(kFirst, {2}, {NAN, -1});
  const Floats y = storage_of<float>(relu(x));
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 0);
}

TEST_CASE("in-place and out= forms run on the CPU and write to the device", "[dummy][kernels]") {
  const Tensor a = tensor_of<float>(kFirst, {2}, {1, -2});
  reset_counts();
  CHECK(add_(a, a).is_same(a));
  CHECK(relu_(a).is_same(a));
  CHECK(storage_of<float>(a) == Floats{2, 0});
  const Tensor out = tensor_of<float>(kFirst, {0}, {});
  CHECK(mul_out(a, a, out).is_same(out));
  CHECK(storage_of<float>(out) == Floats{4, 0});
  CHECK(fallback_counts().at("aten::mul.out") == 1);
}

}  // namespace
}  // namespace sb::dummy
