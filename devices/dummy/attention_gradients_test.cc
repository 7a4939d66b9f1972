// Gradients through the device's own attention, against those through the CPU's.

#include <cmath>
#include <optional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/devices/dummy/probe.h"
#include "switchboard/devices/dummy/streams.h"
#include "switchboard/devices/dummy/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/reductions/reductions.h"

namespace sb::dummy {
namespace {

using Doubles = std::vector<double>;
constexpr const char* kBackward = "aten::_scaled_dot_product_fused_attention_overrideable_backward";

Tensor leaf(Device device, std::vector<int64_t> sizes, double seed) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  Doubles elements;
  for (int64_t i = 0; i < n; ++i) elements.push_back(std::sin(seed + 1.3 * static_cast<double>(i)));
  const Tensor t = tensor_of<double>(device, sizes, elements);
  set_requires_grad(t);
  return t;
}

// Of query, key, value and bias, where there is one.
std::vector<Doubles> gradients(Device device, bool with_bias, bool is_causal) {
  std::vector<Tensor> inputs = {leaf(device, {2, 2, 3, 2}, 1), leaf(device, {2, 2, 4, 2}, 2),
                                leaf(device, {2, 2, 4, 2}, 3)};
  std::optional<Tensor> bias;
  if (with_bias) inputs.push_back(*(bias = leaf(device, {3, 4}, 4)));
  const Tensor out =
      scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], bias, 0, is_causal);
  backward(sum(mul(out, out)));
  std::vector<Doubles> grads;
  for (const Tensor& input : inputs)
    grads.push_back(storage_of<double>(contiguous(to(grad_of(input), Device(DeviceType::CPU)))));
  return grads;
}

TEST_CASE("gradients go through the device's own attention", "[dummy][attention]") {
  for (const auto& [with_bias, is_causal] :
       {std::pair(false, false), {true, false}, {false, true}}) {
    const std::vector<Doubles> expected = gradients(DeviceType::CPU, with_bias, is_causal);
    const auto check = [&, with_bias = with_bias, is_causal = is_causal] {
      reset_counts();
      const std::vector<Doubles> got = gradients(kSecond, with_bias, is_causal);
      CHECK(kernel_counts()[kBackward] == 1);
      REQUIRE(got.size() == expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        REQUIRE(got[i].size() == expected[i].size());
        for (size_t k = 0; k < got[i].size(); ++k)
          CHECK(got[i][k] == Approx(expected[i][k]).margin(1e-12));
      }
    };
    check();
    AsynchronousLaunches launches;
    check();
  }
}

}  // namespace
}  // namespace sb::dummy
