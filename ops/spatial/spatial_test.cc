// What the recorded cases cannot show: sizes that fill vectors, threads, overflow, bad indices.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/item.h"
#include "switchboard/ops/parallel.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/padding.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/spatial/upsample.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

// Numbers without a pattern that a mistake could follow.
Tensor numbers(IntArrayRef sizes) {
  Tensor t = empty_on(Device{DeviceType::CPU}, sizes, DType::Float32);
  uint32_t state = 1;
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 1664525 + 1013904223;
    t.data<float>()[i] = static_cast<float>(state >> 8) / 0x1p24f - 0.5f;
  }
  return t;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  const Tensor x = to_dtype(a, DType::Float64), y = to_dtype(b, DType::Float64);
  double most = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    most = std::max(most, std::abs(x.data<double>()[i] - y.data<double>()[i]));
  }
  return most;
}

struct Layer {
  int64_t in, out, size, kernel, stride, padding, dilation, groups;
};

TEST_CASE("float32 convolution gives what double precision gives, for every way to compute it") {
  const Layer layer = GENERATE(Layer{3, 20, 37, 3, 1, 1, 1, 1}, Layer{3, 9, 40, 7, 2, 3, 1, 1},
                               Layer{70, 13, 9, 1, 1, 0, 1, 1}, Layer{6, 6, 23, 5, 1, 2, 1, 6},
                               Layer{6, 12, 23, 3, 2, 1, 1, 6}, Layer{8, 8, 19, 3, 1, 2, 2, 2},
                               Layer{4, 5, 17, 2, 3, 0, 1, 1}, Layer{4, 5, 13, 3, 2, 3, 3, 1},
                               Layer{40, 70, 1, 1, 1, 0, 1, 1}, Layer{64, 100, 7, 3, 1, 1, 1, 1},
                               Layer{5, 3, 11, 1, 2, 1, 1, 1}, Layer{4, 4, 21, 3, 1, 1, 1, 4},
                               Layer{4, 4, 45, 7, 2, 3, 1, 4}, Layer{4, 8, 20, 7, 1, 3, 1, 4},
                               Layer{4, 4, 40, 3, 1, 2, 2, 4}, Layer{3, 3, 16, 1, 1, 0, 1, 3},
                               Layer{3, 3, 18, 15, 1, 0, 1, 3}, Layer{2, 2, 20, 13, 1, 0, 1, 2});
  const Tensor x = numbers({2, layer.in, layer.size, layer.size + 3});
  const Tensor w = numbers({layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
  const Tensor b = numbers({layer.out});
  const auto run = [&](DType dtype) {
    return conv2d(to_dtype(x, dtype), to_dtype(w, dtype), to_dtype(b, dtype), {layer.stride},
                  {layer.padding}, {layer.dilation}, layer.groups);
  };
  CHECK(largest_difference(run(DType::Float32), run(DType::Float64)) < 1e-4);
}

TEST_CASE("the number of threads does not change a bit of a convolution") {
  const Tensor x = numbers({2, 16, 30, 30}), w = numbers({64, 16, 3, 3});
  const int before = get_num_threads();
  set_num_threads(1);
  const Tensor one = conv2d(x, w, std::nullopt, {1}, {1}, {1}, 1);
  set_num_threads(3);
  const Tensor three = conv2d(x, w, std::nullopt, {1}, {1}, {1}, 1);
  set_num_threads(before);
  CHECK(largest_difference(one, three) == 0);
}

TEST_CASE("a convolution's gradients are those of its transpose") {
  const Tensor x = numbers({2, 4, 9, 9}), w = numbers({6, 4, 3, 3}), g = numbers({2, 6, 5, 5});
  const bool all[] = {true, true, true};
  const auto [gx, gw, gb] = convolution_backward(g, x, w, {6}, {2}, {1}, {1}, false, {0}, 1, all);
  CHECK(largest_difference(gx, conv_transpose2d_input(g, w, std::nullopt, {2}, {1}, {0}, 1, {1})) ==
        0);
}

TEST_CASE("arguments whose sizes overflow are refused") {
  const int64_t huge = std::numeric_limits<int64_t>::max() / 2;
  const Tensor x = numbers({1, 1, 4, 4}), w = numbers({1, 1, 2, 2});
  CHECK_THROWS_AS(conv2d(x, w, std::nullopt, {1}, {huge + 1}, {1}, 1), RuntimeError);
  CHECK_THROWS_AS(conv2d(x, w, std::nullopt, {1}, {0}, {huge}, 1), RuntimeError);
  CHECK_THROWS_AS(avg_pool2d(x, {huge}, {1}, {huge / 2 + 1}), RuntimeError);
  CHECK_THROWS_AS(replication_pad2d(x, {huge, huge, huge, huge}), RuntimeError);
  CHECK_THROWS_AS(upsample_nearest2d(x, {huge, huge}), RuntimeError);
}

TEST_CASE("replication repeats the edge that is nearest, however far the result begins from it") {
  const int64_t least = -(int64_t{1} << 62), most = -least - 1;
  const Tensor x = numbers({1, 4});
  const Tensor first = narrow(x, 1, 0, 1), last = narrow(x, 1, 3, 1);
  CHECK(equal(replication_pad1d(x, {-3, 2}), expand(last, {1, 3})));
  CHECK(equal(replication_pad1d(x, {-9, 8}), expand(last, {1, 3})));
  CHECK(equal(replication_pad1d(x, {9, -10}), expand(first, {1, 3})));
  CHECK(equal(replication_pad1d(x, {least, most}), expand(last, {1, 3})));
  const Tensor grad = replication_pad1d_backward(ones({1, 3}), x, {least, most});
  CHECK(equal(narrow(grad, 1, 0, 3), zeros({1, 3})));
  CHECK(equal(narrow(grad, 1, 3, 1), full({1, 1}, 3.0)));
}

TEST_CASE("too few dimensions are an IndexError where PyTorch asks for a size first") {
  CHECK_THROWS_AS(replication_pad2d(numbers({4, 4}), {1, 1, 1, 1}), IndexError);
  CHECK_THROWS_AS(reflection_pad3d(numbers({4, 4, 4}), {1, 1, 1, 1, 1, 1}), IndexError);
  CHECK_THROWS_AS(avg_pool2d(numbers({4, 4}), {2}), IndexError);
  CHECK_THROWS_AS(reflection_pad1d(numbers({4}), {1, 1}), RuntimeError);
  CHECK_THROWS_AS(avg_pool3d(numbers({4, 4, 4}), {2}), RuntimeError);
  CHECK_THROWS_AS(reflection_pad3d_backward(numbers({4, 4}), numbers({4, 4}), {1, 1, 1, 1, 1, 1}),
                  RuntimeError);
}

TEST_CASE("max_unpool refuses an index outside before it writes") {
  const Tensor x = numbers({1, 1, 2, 2});
  Tensor indices = empty_on(Device{DeviceType::CPU}, {1, 1, 2, 2}, DType::Int64);
  for (int64_t i = 0; i < 4; ++i) indices.data<int64_t>()[i] = i * 6;  // the last is 18
  const Tensor out = numbers({1, 1, 4, 4}), before = clone(out);
  CHECK_THROWS_AS(max_unpool2d_out(x, indices, {4, 4}, out), RuntimeError);
  CHECK(largest_difference(out, before) == 0);
}

TEST_CASE("max pooling of long rows gives what it gives in double precision") {
  const Tensor x = numbers({1, 2, 33, 71});
  const int64_t stride = GENERATE(1, 2, 3), dilation = GENERATE(1, 2);
  const auto [a, i] = max_pool2d_with_indices(x, {3}, {stride}, {1}, {dilation}, true);
  const auto [b, j] =
      max_pool2d_with_indices(to_dtype(x, DType::Float64), {3}, {stride}, {1}, {dilation}, true);
  CHECK(largest_difference(a, b) == 0);
  CHECK(largest_difference(i, j) == 0);
}

TEST_CASE("max pooling gives the last NaN of a window, and the first of equal elements") {
  Tensor x = empty_on(Device{DeviceType::CPU}, {1, 1, 2, 4}, DType::Float32);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {1, -nan, -0.0f, 0.0f, nan, 2, 0.0f, -1};
  std::copy_n(values, 8, x.data<float>());
  const auto [largest, indices] = max_pool2d_with_indices(x, {2}, {2});
  CHECK(std::isnan(largest.data<float>()[0]));
  CHECK(indices.data<int64_t>()[0] == 4);
  CHECK(indices.data<int64_t>()[1] == 2);
}

TEST_CASE("integer sums of pooling wrap") {
  const Tensor x = empty_on(Device{DeviceType::CPU}, {1, 1, 1, 3}, DType::Int64);
  std::fill_n(x.data<int64_t>(), 3, INT64_MAX);
  CHECK(*avg_pool2d(x, {1, 2}).data<int64_t>() == -1);  // -2 / 2
  CHECK(*avg_pool2d(x, {1, 3}, {1}, {0}, false, true, 1).data<int64_t>() == INT64_MAX - 2);
  const Tensor grad = empty_on(Device{DeviceType::CPU}, {1, 1, 1, 2}, DType::Int64);
  std::fill_n(grad.data<int64_t>(), 2, INT64_MAX);
  const Tensor back = avg_pool2d_backward(grad, x, {1, 2}, {1, 1}, {0}, false, true, 1);
  CHECK(back.data<int64_t>()[1] == -2);
}

TEST_CASE("pooling to one element for each plane is the mean, of complex numbers, too") {
  const Tensor x = to_dtype(numbers({2, 3, 4, 5}), DType::Complex64);
  const Tensor pooled = adaptive_avg_pool2d(x, {1, 1});
  std::complex<float> sum = 0;
  for (int64_t i = 0; i < 20; ++i) sum += x.data<std::complex<float>>()[i];
  CHECK(std::abs(pooled.data<std::complex<float>>()[0] - sum / 20.0f) < 1e-6f);
}

TEST_CASE("windows with more padding than int64 counts are no undefined division") {
  const Tensor x = numbers({1, 1, 1, 1});
  constexpr int64_t huge = int64_t{1} << 40;
  CHECK(avg_pool2d(x, {huge}, {huge}, {huge / 2}).numel() == 1);
}

TEST_CASE("the gradient of a pool without channels is one without elements") {
  const Tensor x = zeros({0, 4, 6}), grad = zeros({0, 2, 3});
  CHECK(_adaptive_avg_pool2d_backward(grad, x).sizes() == x.sizes());
  CHECK_THROWS_AS(_adaptive_avg_pool2d_backward(zeros({1, 0, 3}), zeros({1, 4, 6})), RuntimeError);
  CHECK_THROWS_AS(_adaptive_avg_pool2d_backward(zeros({}), zeros({})), RuntimeError);
}

}  // namespace
}  // namespace sb
