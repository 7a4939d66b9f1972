// The derivatives of attention against finite differences, first and second.

#include "switchboard/ops/attention/attention.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check_all;
using test::tensor_of;
using test::Tensors;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor leaf(std::vector<int64_t> sizes, double start) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(std::sin(start + 1.7 * static_cast<double>(i * i)));
  Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}
Tensors inputs() { return {leaf({1, 2, 3, 2}, 1), leaf({1, 2, 4, 2}, 2), leaf({1, 2, 4, 2}, 3)}; }

TEST_CASE("the output of fused attention has derivatives by query, key and value") {
  const bool is_causal = GENERATE(false, true);
  check_all(
      [&](const Tensors& in) {
        const auto [output, logsumexp] = _scaled_dot_product_flash_attention_for_cpu(
            in[0], in[1], in[2], 0, is_causal, std::nullopt, 0.7);
        CHECK_FALSE(requires_grad(logsumexp));
        return Tensors{output};
      },
      inputs());
}

TEST_CASE("a mask that requires a gradient gets one: attention is composed then") {
  Tensors in = inputs();
  in.push_back(leaf({3, 4}, 4));
  check_all(
      [](const Tensors& t) {
        return Tensors{scaled_dot_product_attention(t[0], t[1], t[2], t[3])};
      },
      in);
  const auto choice = [&](const Tensor& mask) {
    return static_cast<SdpBackend>(_fused_sdp_choice(in[0], in[1], in[2], mask));
  };
  CHECK(choice(in[3]) == SdpBackend::Math);
  CHECK(choice(detach(in[3])) == SdpBackend::Flash);
  CHECK_THROWS_AS(backward(sum(std::get<0>(_scaled_dot_product_flash_attention_for_cpu(
                      in[0], in[1], in[2], 0, false, in[3])))),
                  RuntimeError);
}

TEST_CASE("the gradients of fused attention are laid out as (b, l, h, e), and have shared heads") {
  const Tensor q = leaf({2, 4, 3, 2}, 1), k = leaf({2, 2, 5, 2}, 2);
  const auto [output, logsumexp] = _scaled_dot_product_flash_attention_for_cpu(q, k, k);
  const auto [by_query, by_key, by_value] = _scaled_dot_product_flash_attention_for_cpu_backward(
      output, q, k, k, output, logsumexp, 0, false);
  CHECK(by_query.strides() == IntArrayRef{24, 2, 8, 1});
  CHECK(by_key.sizes() == k.sizes());
  CHECK(by_key.strides() == IntArrayRef{20, 2, 4, 1});
  CHECK(by_value.strides() == by_key.strides());
}

TEST_CASE("a query that may look at nothing gives no gradient") {
  const Tensor bools = tensor_of({3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1}, DType::Bool);
  const Tensor added = tensor_of(
      {3, 4},
      {0, -kInfinity, 0, 0, -kInfinity, -kInfinity, -kInfinity, -kInfinity, 0, 0, -kInfinity, 0},
      DType::Float64);
  for (const Tensor& mask : {bools, added}) {
    check_all(
        [&](const Tensors& in) {
          return Tensors{scaled_dot_product_attention(in[0], in[1], in[2], mask)};
        },
        inputs());
  }
}

TEST_CASE("fused and composed attention have the same gradients") {
  const Tensors fused = inputs(), composed = inputs();
  backward(
      sum(std::get<0>(_scaled_dot_product_flash_attention_for_cpu(fused[0], fused[1], fused[2]))));
  backward(sum(std::get<0>(_scaled_dot_product_attention(composed[0], composed[1], composed[2]))));
  for (size_t i = 0; i < fused.size(); ++i) {
    const auto a = test::values_of(grad_of(fused[i])), b = test::values_of(grad_of(composed[i]));
    for (size_t k = 0; k < a.size(); ++k) CHECK(a[k] == Approx(b[k]).margin(1e-12));
  }
}

TEST_CASE("gradients of 16-bit attention have its dtype") {
  Tensors in;
  for (const Tensor& t : inputs()) {
    in.push_back(cast_copy(t, DType::BFloat16));
    set_requires_grad(in.back());
  }
  backward(sum(scaled_dot_product_attention(in[0], in[1], in[2])));
  for (const Tensor& t : in) CHECK(grad_of(t).dtype() == DType::BFloat16);
}

TEST_CASE("heads that queries share get the sum of their gradients") {
  const Tensors in = {leaf({1, 4, 3, 2}, 1), leaf({1, 2, 4, 2}, 2), leaf({1, 2, 4, 2}, 3)};
  check_all(
      [](const Tensors& t) {
        return Tensors{scaled_dot_product_attention(t[0], t[1], t[2], std::nullopt, 0, false,
                                                    std::nullopt, true)};
      },
      in);
}

}  // namespace
}  // namespace sb
