// The device's own attention, against the CPU's.

#include "switchboard/ops/attention/attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::dummy {
namespace {

const Device kCpu{DeviceType::CPU};
constexpr const char* kForward = "aten::_scaled_dot_product_fused_attention_overrideable";
constexpr const char* kBackward = "aten::_scaled_dot_product_fused_attention_overrideable_backward";

// Different numbers of both signs.
Tensor numbers(std::vector<int64_t> sizes, double seed, DType dtype = DType::Float64) {
  const Tensor t = empty_on(kCpu, sizes, DType::Float64);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data<double>()[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return dtype == DType::Float64 ? t : to_dtype(t, dtype);
}
Tensor there(const Tensor& t) { return to(t, kSecond); }

double difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  const Tensor x = contiguous(to(a, kCpu)), y = contiguous(to(b, kCpu));
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto at = [&](const Tensor& t) {
      return t.dtype() == DType::Float64 ? t.data<double>()[i] : t.data<float>()[i];
    };
    worst = std::max(worst, std::abs(at(x) - at(y)));
    if (std::isnan(at(x)) != std::isnan(at(y))) return INFINITY;
  }
  return worst;
}

OperatorHandle op(const char* name) { return default_dispatcher().find_op_or_throw(name); }

TEST_CASE("attention on the device runs the device's own, with the CPU's results and strides",
          "[dummy][attention]") {
  const DType dtype = GENERATE(DType::Float32, DType::Float64);
  const double tolerance = dtype == DType::Float32 ? 1e-5 : 1e-12;
  Tensor q = numbers({2, 3, 4, 5}, 1, dtype);
  const Tensor k = numbers({2, 3, 6, 5}, 2, dtype), v = numbers({2, 3, 6, 5}, 3, dtype),
               bias = numbers({1, 3, 1, 6}, 4, dtype);
  const Tensor seen = to_dtype(tensor_of<uint8_t>(kCpu, {6}, {1, 0, 1, 1, 0, 1}), DType::Bool);
  const auto check = [&](const std::optional<Tensor>& mask, bool is_causal,
                         std::optional<double> scale) {
    const Tensor expected = scaled_dot_product_attention(q, k, v, mask, 0, is_causal, scale);
    reset_counts();
    const Tensor got = scaled_dot_product_attention(
        there(q), there(k), there(v), mask ? std::optional(there(*mask)) : std::nullopt, 0,
        is_causal, scale);
    CHECK(kernel_counts().at(kForward) == 1);
    CHECK(got.device() == kSecond);
    CHECK(got.storage()->device() == kSecond);
    CHECK(got.strides() == expected.strides());
    CHECK(difference(got, expected) < tolerance);
  };
  check(std::nullopt, false, std::nullopt);
  check(std::nullopt, true, 0.25);
  check(bias, false, std::nullopt);
  check(seen, false, -1.0);
  q = transpose(contiguous(transpose(q, 1, 2)), 1, 2);
  check(std::nullopt, false, std::nullopt);
}

TEST_CASE("attention that the device does not serve is the CPU's choice", "[dummy][attention]") {
  const Tensor q = there(numbers({3, 4, 5}, 1)), k = there(numbers({3, 6, 5}, 2));
  reset_counts();
  const Tensor got = scaled_dot_product_attention(q, k, k);
  CHECK(kernel_counts().count(kForward) == 0);
  CHECK(kernel_counts().at("aten::_fused_sdp_choice") == 1);
  CHECK(difference(got, scaled_dot_product_attention(to(q, kCpu), to(k, kCpu), to(k, kCpu))) <
        1e-12);
  const auto choice = [](const Tensor& t, double dropout_p) {
    return _fused_sdp_choice(t, t, t, std::nullopt, dropout_p);
  };
  const Tensor t = there(numbers({1, 2, 3, 4}, 1));
  CHECK(choice(t, 0) == static_cast<int64_t>(SdpBackend::Overrideable));
  CHECK(choice(t, 0.5) == static_cast<int64_t>(SdpBackend::Math));
}

TEST_CASE("a query that may look at nothing gets zeros", "[dummy][attention]") {
  const Tensor q = there(numbers({1, 1, 2, 2}, 1));
  const double nothing = -std::numeric_limits<double>::infinity();
  const Tensor bias = tensor_of<double>(kSecond, {2, 2}, {nothing, nothing, 0, nothing});
  const Tensor got = scaled_dot_product_attention(q, q, q, bias);
  const std::vector<double> values = storage_of<double>(got);
  CHECK(values[0] == 0);
  CHECK(values[1] == 0);
  CHECK(values[2] == storage_of<double>(q)[0]);
}

TEST_CASE("the fused forward gives all its results", "[dummy][attention]") {
  const Tensor q = there(numbers({1, 2, 3, 4}, 1)), k = there(numbers({1, 2, 5, 4}, 2));
  const Stack results =
      op(kForward).call({q, k, k, IValue(), 0.0, false, /*return_debug_mask=*/true});
  REQUIRE(results.size() == 9);
  CHECK(results[0].to_tensor().sizes() == IntArrayRef{1, 2, 3, 4});
  CHECK(results[1].to_tensor().sizes() == IntArrayRef{1, 2, 3});
  CHECK(results[4].to_int() == 3);
  CHECK(results[5].to_int() == 5);
  const Tensor weights = results[8].to_tensor();
  CHECK(weights.sizes() == IntArrayRef{1, 2, 3, 5});
  CHECK(difference(sum(weights, {-1}, false), there(to_dtype(ones({1, 2, 3}), DType::Float64))) <
        1e-12);
}

// The derivative of sum(output * grad), by differences.
double numerical(const std::vector<Tensor>& inputs, size_t which, int64_t element,
                 const Tensor& grad) {
  const auto value = [&](double step) {
    std::vector<Tensor> moved;
    for (const Tensor& t : inputs) moved.push_back(clone(t));
    moved[which].data<double>()[element] += step;
    const Tensor out = scaled_dot_product_attention(moved[0], moved[1], moved[2], moved[3]);
    const Tensor product = sum(mul(out, grad));
    return *product.data<double>();
  };
  constexpr double kStep = 1e-5;
  return (value(kStep) - value(-kStep)) / (2 * kStep);
}

TEST_CASE("the fused backward gives the gradients that it is asked for", "[dummy][attention]") {
  // A bias that is broadcast over batches and queries.
  const std::vector<Tensor> inputs = {numbers({2, 2, 3, 2}, 1), numbers({2, 2, 4, 2}, 2),
                                      numbers({2, 2, 4, 3}, 3), numbers({2, 1, 4}, 4)};
  const Tensor grad = numbers({2, 2, 3, 3}, 5);
  const Tensor q = there(inputs[0]), k = there(inputs[1]), v = there(inputs[2]),
               bias = there(inputs[3]);
  const Stack forward = op(kForward).call({q, k, v, bias});
  const auto backward = [&](std::vector<bool> wanted) {
    return op(kBackward).call({there(grad), q, k, v, bias, std::move(wanted), forward[0],
                               forward[1], forward[2], forward[3], forward[4], forward[5], 0.0,
                               false, forward[6], forward[7]});
  };
  const Stack grads = backward({true, true, true, true});
  for (size_t i = 0; i < 4; ++i) {
    const Tensor got = to(grads[i].to_tensor(), kCpu);
    REQUIRE(got.sizes() == inputs[i].sizes());
    for (int64_t element : {int64_t{0}, got.numel() / 2, got.numel() - 1}) {
      INFO("input " << i << ", element " << element);
      CHECK(contiguous(got).data<double>()[element] ==
            Approx(numerical(inputs, i, element, grad)).margin(1e-7));
    }
  }
  const Stack some = backward({false, true, false, false});
  CHECK_FALSE(some[0].to_tensor().defined());
  CHECK(difference(some[1].to_tensor(), grads[1].to_tensor()) == 0);
  CHECK_FALSE(some[3].to_tensor().defined());
}

TEST_CASE("fused attention refuses what does not fit, by operator and argument",
          "[dummy][attention]") {
  const Tensor q = there(numbers({1, 2, 3, 4}, 1)), k = there(numbers({1, 2, 5, 4}, 2));
  const Tensor other = there(numbers({1, 2, 5, 3}, 2)), flat = there(numbers({3, 4}, 1));
  const auto forward = [](std::vector<IValue> arguments) {
    return op(kForward).call(std::move(arguments));
  };
  CHECK_THROWS_WITH(forward({q, other, k}), Catch::Contains(kForward));
  CHECK_THROWS_AS(forward({flat, flat, flat}), RuntimeError);
  CHECK_THROWS_AS(forward({q, k, there(numbers({1, 2, 5, 4}, 2, DType::Float32))}), RuntimeError);
  CHECK_THROWS_WITH(forward({q, k, k, flat}), Catch::Contains("'attn_bias'"));
  CHECK_THROWS_AS(forward({q, k, k, IValue(), 0.5}), NotImplementedError);
  CHECK_THROWS_WITH(
      op(kBackward).call({q, q, k, k, Tensor(), std::vector<bool>(4, true), flat, flat, Tensor(),
                          Tensor(), 3, 5, 0.0, false, Tensor(), Tensor()}),
      Catch::Contains("'out'"));
}

}  // namespace
}  // namespace sb::dummy
