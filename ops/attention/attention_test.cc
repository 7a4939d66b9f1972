#include "switchboard/ops/attention/attention.h"

#include <cmath>
#include <random>

#include "catch2/catch.hpp"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor random_tensor(IntArrayRef sizes, DType dtype = DType::Float32) {
  static std::mt19937 engine(3);
  std::normal_distribution<float> normal;
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float32);
  std::generate_n(x.data<float>(), x.numel(), [&] { return normal(engine); });
  return cast_copy(x, dtype);
}
// The largest difference.
float distance(const Tensor& a, const Tensor& b) {
  const Tensor x = contiguous(cast_copy(a, DType::Float32));
  const Tensor y = contiguous(cast_copy(b, DType::Float32));
  REQUIRE(x.sizes() == y.sizes());
  float largest = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    largest = std::max(largest, std::abs(x.data<float>()[i] - y.data<float>()[i]));
  }
  return largest;
}
// Five dimensions are composed of other operators, three or four are fused.
Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v,
                const std::optional<Tensor>& mask, bool is_causal) {
  const auto deep = [](const Tensor& t) { return unsqueeze(t, 0); };
  return squeeze_dim(scaled_dot_product_attention(deep(q), deep(k), deep(v), mask, 0.0, is_causal),
                     0);
}

TEST_CASE("fused attention is composed attention, over several blocks of queries and keys") {
  const DType dtype = GENERATE(DType::Float32, DType::Float64, DType::BFloat16);
  const Tensor q = random_tensor({2, 3, 150, 16}, dtype);
  const Tensor k = transpose(random_tensor({2, 700, 3, 16}, dtype), 1, 2);
  const Tensor v = random_tensor({2, 3, 700, 16}, dtype);
  REQUIRE(_fused_sdp_choice(q, k, v) == static_cast<int64_t>(SdpBackend::Flash));
  const float tolerance = dtype == DType::BFloat16 ? 2e-2f : 1e-5f;
  for (bool is_causal : {false, true}) {
    CHECK(distance(scaled_dot_product_attention(q, k, v, std::nullopt, 0.0, is_causal),
                   composed(q, k, v, std::nullopt, is_causal)) < tolerance);
  }
  const Tensor mask = random_tensor({150, 700}, dtype);
  CHECK(distance(scaled_dot_product_attention(q, k, v, mask), composed(q, k, v, mask, false)) <
        tolerance);
}

TEST_CASE("a query that may look at nothing gets zeros") {
  const Tensor q = random_tensor({1, 1, 2, 4});
  const Tensor mask = empty_on(DeviceType::CPU, {2, 2}, DType::Bool);
  const bool looks[] = {false, false, true, false};
  std::copy(looks, looks + 4, mask.data<bool>());
  for (const Tensor& out :
       {scaled_dot_product_attention(q, q, q, mask), composed(q, q, q, mask, false)}) {
    const Tensor rows = view(contiguous(out), {2, 4});

    CHECK(item(sb::select(sb::select(rows, 0, 0), 0, 3)).to<double>() == 0);
    CHECK(distance(sb::select(rows, 0, 1), sb::select(view(q, {2, 4}), 0, 0)) < 1e-6f);
  }
}

TEST_CASE("a score that is not a number makes its query's output so, in any block of keys") {
  const Tensor q = random_tensor({1, 1, 2, 4});
  const Tensor k = random_tensor({1, 1, 700, 4});
  k.data<float>()[GENERATE(0, 4 * 699)] = NAN;
  const Tensor out = scaled_dot_product_attention(q, k, k);
  CHECK(std::isnan(item(sb::select(view(contiguous(out), {8}), 0, 5)).to<double>()));
  const Tensor one = random_tensor({1, 1, 2, 4});
  one.data<float>()[0] = NAN;
  const Tensor rows = view(contiguous(scaled_dot_product_attention(one, q, q)), {8});
  CHECK(std::isnan(item(sb::select(rows, 0, 1)).to<double>()));
  CHECK(!std::isnan(item(sb::select(rows, 0, 4)).to<double>()));
}

TEST_CASE("a mask of any shape that broadcasts is added, also a float32 one to 16-bit scores") {
  const DType dtype = GENERATE(DType::Float32, DType::BFloat16);
  const Tensor q = random_tensor({2, 3, 5, 4}, dtype);
  for (const DimVector& sizes : {DimVector{}, {1}, {7}, {5, 1}, {3, 5, 7}, {2, 1, 1, 7}}) {
    const Tensor k = random_tensor({2, 3, 7, 4}, dtype);
    const Tensor mask = random_tensor(sizes);
    CHECK(distance(scaled_dot_product_attention(q, k, k, mask), composed(q, k, k, mask, false)) <
          (dtype == DType::Float32 ? 1e-5f : 5e-2f));
  }
}

TEST_CASE("with enable_gqa, neighbouring query heads share a key head") {
  const Tensor q = random_tensor({1, 4, 3, 8});
  const Tensor k = random_tensor({1, 2, 5, 8});
  const Tensor shared =
      scaled_dot_product_attention(q, k, k, std::nullopt, 0.0, false, std::nullopt, true);
  for (int64_t h = 0; h < 4; ++h) {
    const Tensor own = slice(k, 1, h / 2, h / 2 + 1);
    CHECK(distance(slice(shared, 1, h, h + 1),
                   scaled_dot_product_attention(slice(q, 1, h, h + 1), own, own)) < 1e-6f);
  }
  CHECK_THROWS_AS(scaled_dot_product_attention(q, k, k), RuntimeError);
}

// The same tensor, dimensions in memory in another order, slowest first.
Tensor laid_out(const Tensor& t, IntArrayRef order) {
  DimVector inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return permute(contiguous(permute(t, order)), inverse);
}

TEST_CASE("the output of fused attention is laid out as the query") {
  const Tensor q = random_tensor({2, 3, 5, 4}), k = random_tensor({2, 3, 7, 4});
  const Tensor expected = scaled_dot_product_attention(q, k, k);
  CHECK(expected.is_contiguous());
  for (const DimVector& order : {DimVector{0, 2, 1, 3}, {2, 1, 0, 3}, {3, 0, 2, 1}}) {
    const Tensor laid = laid_out(q, order);
    const auto [output, sums] = _scaled_dot_product_flash_attention_for_cpu(laid, k, k);
    CHECK(output.strides() == laid.strides());
    CHECK(distance(output, expected) < 1e-6f);
    CHECK(sums.strides() == IntArrayRef{15, 1, 3});
  }
  const Tensor without_batch = sb::select(laid_out(q, {0, 2, 1, 3}), 0, 1);
  CHECK(scaled_dot_product_attention(without_batch, sb::select(k, 0, 1), sb::select(k, 0, 1))
            .strides() == without_batch.strides());
}

TEST_CASE("attention is fused where rows are dense, widths agree and the mask has no odd rank") {
  const Tensor q = random_tensor({2, 3, 5, 4}), k = random_tensor({2, 3, 7, 4});
  const auto is_fused = [](const Tensor& q, const Tensor& k, const Tensor& v,
                           const std::optional<Tensor>& mask = std::nullopt,
                           bool share_heads = false) {
    return _fused_sdp_choice(q, k, v, mask, 0.0, false, std::nullopt, share_heads) ==
           static_cast<int64_t>(SdpBackend::Flash);
  };
  CHECK(is_fused(q, k, k));
  CHECK(is_fused(laid_out(q, {0, 2, 1, 3}), k, k));
  CHECK_FALSE(is_fused(laid_out(q, {0, 1, 3, 2}), k, k));
  CHECK_FALSE(is_fused(q, k, random_tensor({2, 3, 7, 6})));
  CHECK(is_fused(q, k, k, random_tensor({5, 7})));
  CHECK(is_fused(q, k, k, random_tensor({1, 1, 5, 7})));
  CHECK_FALSE(is_fused(q, k, k, random_tensor({3, 5, 7})));
  CHECK(is_fused(random_tensor({3, 5, 4}), random_tensor({3, 7, 4}), random_tensor({3, 7, 4})));
  const Tensor many = random_tensor({2, 6, 5, 4});
  CHECK_FALSE(is_fused(many, k, k));
  CHECK(is_fused(many, k, k, std::nullopt, true));
  // One head is broadcast to all.
  const Tensor one = random_tensor({2, 1, 7, 4});
  CHECK(is_fused(many, one, one));
  const Tensor all = contiguous(sb::expand(one, {2, 6, 7, 4}));
  CHECK(distance(scaled_dot_product_attention(many, one, one),
                 scaled_dot_product_attention(many, all, all)) < 1e-6f);
  // What is composed is contiguous.
  CHECK(scaled_dot_product_attention(laid_out(q, {0, 2, 1, 3}), k, random_tensor({2, 3, 7, 6}))
            .is_contiguous());
}

TEST_CASE("meta attention has the strides of real attention") {
  const auto on = [](const Tensor& t) {
    return empty_strided_on(DeviceType::Meta, t.sizes(), t.strides(), t.dtype());
  };
  for (const Tensor& q : {random_tensor({2, 3, 5, 4}), random_tensor({3, 5, 4}),
                          transpose(random_tensor({2, 5, 3, 4}), 1, 2)}) {
    const Tensor real = scaled_dot_product_attention(q, q, q);
    const Tensor meta = scaled_dot_product_attention(on(q), on(q), on(q));
    CHECK(meta.sizes() == real.sizes());
    CHECK(meta.strides() == real.strides());
  }
}

TEST_CASE("attention that does not fit is refused") {
  const Tensor q = random_tensor({1, 2, 3, 4});
  CHECK_THROWS_AS(scaled_dot_product_attention(q, random_tensor({1, 2, 3, 5}), q), RuntimeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(q, q, random_tensor({1, 2, 7, 4})), RuntimeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(q, q, q, random_tensor({4, 4})), RuntimeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(q, q, q, random_tensor({3, 3}), 0.0, true),
                  RuntimeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(q, cast_copy(q, DType::Float64), q), RuntimeError);
  CHECK_THROWS_AS(scaled_dot_product_attention(Tensor(), q, q), Error);
}

}  // namespace
}  // namespace sb
