// What the recorded cases cannot show: sizes that fill vectors, threads, overflow, bad indices.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/grid_sampler.h"
#include "switchboard/ops/spatial/padding.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/spatial/upsample.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

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
  const Tensor x = to_dtype(contiguous(a), DType::Float64);
  const Tensor y = to_dtype(contiguous(b), DType::Float64);
  double most = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    most = std::max(most, std::abs(x.data<double>()[i] - y.data<double>()[i]));
  }
  return most;
}

struct Layer {
  int64_t in, out, size, kernel, stride, padding, dilation, groups;
};

// Each way to compute them, forward or backward, suits some.
Layer some_layer() {
  return GENERATE(Layer{3, 20, 37, 3, 1, 1, 1, 1}, Layer{3, 9, 40, 7, 2, 3, 1, 1},
                  Layer{70, 13, 9, 1, 1, 0, 1, 1}, Layer{6, 6, 23, 5, 1, 2, 1, 6},
                  Layer{6, 12, 23, 3, 2, 1, 1, 6}, Layer{8, 8, 19, 3, 1, 2, 2, 2},
                  Layer{4, 5, 17, 2, 3, 0, 1, 1}, Layer{4, 5, 13, 3, 2, 3, 3, 1},
                  Layer{40, 70, 1, 1, 1, 0, 1, 1}, Layer{64, 100, 7, 3, 1, 1, 1, 1},
                  Layer{5, 3, 11, 1, 2, 1, 1, 1}, Layer{4, 4, 21, 3, 1, 1, 1, 4},
                  Layer{4, 4, 45, 7, 2, 3, 1, 4}, Layer{4, 8, 20, 7, 1, 3, 1, 4},
                  Layer{4, 4, 40, 3, 1, 2, 2, 4}, Layer{3, 3, 16, 1, 1, 0, 1, 3},
                  Layer{3, 3, 18, 15, 1, 0, 1, 3}, Layer{2, 2, 20, 13, 1, 0, 1, 2},
                  Layer{5, 40, 12, 3, 1, 3, 1, 1}, Layer{20, 6, 21, 2, 4, 1, 1, 1},
                  Layer{12, 24, 16, 1, 2, 0, 1, 2}, Layer{3, 17, 14, 3, 4, 2, 6, 1});
}
Tensor input_of(const Layer& layer) { return numbers({2, layer.in, layer.size, layer.size + 3}); }
Tensor weight_of(const Layer& layer) {
  return numbers({layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
}

TEST_CASE("float32 convolution gives what double precision gives, for every way to compute it") {
  const Layer layer = some_layer();
  const Tensor x = input_of(layer), w = weight_of(layer), b = numbers({layer.out});
  const auto run = [&](DType dtype) {
    return conv2d(to_dtype(x, dtype), to_dtype(w, dtype), to_dtype(b, dtype), {layer.stride},
                  {layer.padding}, {layer.dilation}, layer.groups);
  };
  CHECK(largest_difference(run(DType::Float32), run(DType::Float64)) < 1e-4);
}

TEST_CASE("so do its gradients, at any number of threads, and a transposed convolution") {
  const Layer l = some_layer();
  const Tensor x = input_of(l), w = weight_of(l);
  const Tensor g =
      numbers(conv2d(x, w, std::nullopt, {l.stride}, {l.padding}, {l.dilation}, l.groups).sizes());
  const bool both[] = {true, true, false};
  const auto run = [&](DType dtype) {
    return convolution_backward(to_dtype(g, dtype), to_dtype(x, dtype), to_dtype(w, dtype),
                                std::nullopt, {l.stride}, {l.padding}, {l.dilation}, false, {0},
                                l.groups, both);
  };
  const auto [gx, gw, none] = run(DType::Float32);
  const auto [exact_gx, exact_gw, exact_none] = run(DType::Float64);
  CHECK(largest_difference(gx, exact_gx) < 1e-4);
  CHECK(largest_difference(gw, exact_gw) < 1e-4);
  const int before = get_num_threads();
  set_num_threads(before == 3 ? 1 : 3);
  const auto [other_gx, other_gw, other_none] = run(DType::Float32);
  set_num_threads(before);
  CHECK(largest_difference(gx, other_gx) == 0);
  CHECK(largest_difference(gw, other_gw) == 0);
}

TEST_CASE("a step as large as numbers are leads nowhere else", "[spatial]") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor x = numbers({1, 1, 4, 16}), w = numbers({1, 1, 1, 1});
  const std::vector<std::array<int64_t, 2>> strides = {
      {kMost, 1}, {int64_t{1} << 32, 1}, {kMost - 1, 2}};
  for (const auto& stride : strides) {
    const auto run = [&](DType dtype) {
      const Tensor y = conv2d(to_dtype(x, dtype), to_dtype(w, dtype), std::nullopt,
                              {stride[0], stride[1]}, {0}, {1}, 1);
      const bool both[] = {true, true, false};
      const auto [gx, gw, none] =
          convolution_backward(y, to_dtype(x, dtype), to_dtype(w, dtype), std::nullopt,
                               {stride[0], stride[1]}, {0}, {1}, false, {0}, 1, both);
      return std::array{y, gx, gw};
    };
    const auto narrow = run(DType::Float32), wide = run(DType::Float64);
    for (size_t i = 0; i < 3; ++i) CHECK(largest_difference(narrow[i], wide[i]) < 1e-4);
  }
  // No slice is copied that no output reads: all of them would take 2^46 bytes.
  const int64_t far = int64_t{1} << 40;
  const Tensor y = conv3d(numbers({1, 1, 1, 4, 4}), numbers({1, 1, 1, 1, 1}), std::nullopt,
                          {far, 1, 1}, {far, 0, 0}, {1}, 1);
  CHECK(y.sizes() == IntArrayRef{1, 1, 3, 4, 4});
}

TEST_CASE("what a border's gradient has not seen stays out of the gradient of the weight") {
  Tensor x = numbers({1, 1, 6, 9});
  const Tensor w = numbers({20, 1, 3, 3}), g = numbers({1, 20, 4, 7});
  x.data<float>()[8] =
      std::numeric_limits<float>::infinity();  // at the end of a row: element (0, 2) alone sees it
  const bool mask[] = {false, true, false};
  const auto [gx, gw, gb] =
      convolution_backward(g, x, w, std::nullopt, {1}, {0}, {1}, false, {0}, 1, mask);
  for (int64_t i = 0; i < gw.numel(); ++i)
    CHECK(std::isfinite(gw.data<float>()[i]) == (i % 9 != 2));
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
  CHECK_THROWS_AS(replication_pad2d(numbers({4, 4}), {1, 1, 1, 1}), RuntimeError);
  CHECK_THROWS_AS(reflection_pad3d(numbers({4, 4, 4}), {1, 1, 1, 1, 1, 1}), RuntimeError);
  CHECK_THROWS_AS(replication_pad2d_backward(numbers({4, 4}), numbers({4, 4}), {1, 1, 1, 1}),
                  IndexError);
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

TEST_CASE("max pooling with the channels last gives what it gives with them first") {
  Tensor x = numbers({2, 19, 13, 11});
  x.data<float>()[200] = std::numeric_limits<float>::quiet_NaN();
  const Tensor last = contiguous(x, MemoryFormat::ChannelsLast);
  const int64_t stride = GENERATE(1, 2, 3), dilation = GENERATE(1, 2);
  const auto [a, i] = max_pool2d_with_indices(x, {3}, {stride}, {1}, {dilation}, true);
  const auto [b, j] = max_pool2d_with_indices(last, {3}, {stride}, {1}, {dilation}, true);
  CHECK(b.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(largest_difference(a, b) == 0);
  CHECK(largest_difference(i, j) == 0);
}

// The sum of products.
double inner_product(const Tensor& a, const Tensor& b) {
  const Tensor x = to_dtype(contiguous(a), DType::Float64);
  const Tensor y = to_dtype(contiguous(b), DType::Float64);
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<double>()[i] * y.data<double>()[i];
  return sum;
}

TEST_CASE("upsampling has its gradient, and gives the same with the channels last") {
  const Tensor x = numbers({2, 5, 9, 7});
  const Tensor last = contiguous(x, MemoryFormat::ChannelsLast);
  const std::vector<int64_t> input_size(x.sizes().begin(), x.sizes().end());
  const auto check = [&](const Tensor& y, const Tensor& of_last, const auto& backward) {
    const Tensor g = numbers(y.sizes());
    CHECK(largest_difference(y, of_last) < 1e-6);
    CHECK(std::abs(inner_product(y, g) - inner_product(x, backward(g))) < 1e-4);
  };
  for (const auto& size : {std::vector<int64_t>{18, 14}, {9, 20}, {4, 3}, {23, 7}}) {
    const std::vector<SymInt> sizes(size.begin(), size.end());
    const std::vector<SymInt> from(input_size.begin(), input_size.end());
    check(upsample_nearest2d(x, sizes), upsample_nearest2d(last, sizes),
          [&](const Tensor& g) { return upsample_nearest2d_backward(g, sizes, from); });
    check(upsample_bilinear2d(x, sizes, false), upsample_bilinear2d(last, sizes, false),
          [&](const Tensor& g) { return upsample_bilinear2d_backward(g, sizes, from, false); });
    check(upsample_bicubic2d(x, sizes, true), upsample_bicubic2d(last, sizes, true),
          [&](const Tensor& g) { return upsample_bicubic2d_backward(g, sizes, from, true); });
    check(_upsample_bilinear2d_aa(x, sizes, false), _upsample_bilinear2d_aa(last, sizes, false),
          [&](const Tensor& g) { return _upsample_bilinear2d_aa_backward(g, sizes, from, false); });
  }
  const Tensor y = numbers({1, 3, 4, 5, 6});
  const std::vector<SymInt> size = {6, 5, 9};
  CHECK(largest_difference(
            upsample_trilinear3d(y, size, true),
            upsample_trilinear3d(contiguous(y, MemoryFormat::ChannelsLast3d), size, true)) < 1e-6);
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

// (N, C, space...) with the channels innermost in memory.
Tensor channels_last(IntArrayRef sizes) {
  DimVector order = {0};
  for (int64_t d = 2; d < static_cast<int64_t>(sizes.size()); ++d) order.push_back(d);
  order.push_back(1);
  DimVector back = {0, static_cast<int64_t>(sizes.size()) - 1};
  for (int64_t d = 1; d + 1 < static_cast<int64_t>(sizes.size()); ++d) back.push_back(d);
  return permute(contiguous(permute(numbers(sizes), order)), back);
}

TEST_CASE(
    "a convolution's result is laid out as input or weight; with one dimension, as the weight") {
  const auto runs = [](const Tensor& x, const Tensor& w, bool transposed = false) {
    const auto ints = [&](int64_t n) { return DimVector(static_cast<size_t>(x.dim() - 2), n); };
    return convolution(x, w, std::nullopt, ints(1), ints(0), ints(1), transposed, ints(0), 1);
  };
  const Tensor row = numbers({2, 4, 9}), rows = numbers({6, 4, 3});
  CHECK(runs(channels_last({2, 4, 9}), rows).is_contiguous());
  CHECK(runs(row, channels_last({6, 4, 3})).strides() == IntArrayRef{42, 1, 6});
  CHECK(runs(row, channels_last({4, 6, 3}), true).strides() == IntArrayRef{66, 1, 6});
  const Tensor image = numbers({2, 4, 9, 8});
  for (const bool transposed : {false, true}) {
    const Tensor kernel = numbers({4, 4, 3, 3});
    CHECK(runs(image, kernel, transposed).is_contiguous());
    CHECK(runs(channels_last({2, 4, 9, 8}), kernel, transposed)
              .is_contiguous(MemoryFormat::ChannelsLast));
    CHECK(runs(image, channels_last({4, 4, 3, 3}), transposed)
              .is_contiguous(MemoryFormat::ChannelsLast));
  }
  CHECK(runs(channels_last({2, 4, 5, 6, 7}), numbers({6, 4, 3, 3, 3}))
            .is_contiguous(MemoryFormat::ChannelsLast3d));
  CHECK(largest_difference(runs(channels_last({2, 4, 9}), rows), runs(row, rows)) == 0);
}

TEST_CASE("a grid of places samples between elements, and outside as padding says") {
  const Tensor x = test::tensor_of({1, 1, 2, 2}, {1, 2, 3, 4});
  // The middle, a corner element's middle, and a place outside.
  const Tensor grid = test::tensor_of({1, 1, 3, 2}, {0, 0, 0.5, 0.5, 2, 0});
  const auto sample = [&](int64_t interpolation, int64_t padding) {
    return test::values_of(grid_sampler(x, grid, interpolation, padding, false));
  };
  CHECK(sample(0, 0) == std::vector<double>{2.5, 4, 0});
  CHECK(sample(0, 1) == std::vector<double>{2.5, 4, 3});
  CHECK(sample(0, 2) == std::vector<double>{2.5, 4, 2.5});
  CHECK(sample(1, 1)[1] == 4);
  CHECK(sample(2, 1)[0] == Approx(2.5));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor nowhere = test::tensor_of({1, 1, 2, 2}, {nan, 0, 1e30, -1e30});
  for (const int64_t padding : {0, 1, 2})
    for (const int64_t interpolation : {0, 1, 2})
      CHECK_NOTHROW(grid_sampler_2d(x, nowhere, interpolation, padding, false));
  const Tensor volume = test::tensor_of({1, 1, 2, 1, 1}, {1, 3});
  CHECK(test::values_of(grid_sampler(volume, test::tensor_of({1, 1, 1, 1, 3}, {0, 0, 0}), 0, 0,
                                     true)) == std::vector<double>{2});
}

TEST_CASE("a sampler refuses modes and shapes that do not fit") {
  const Tensor x = numbers({2, 3, 4, 5}), grid = numbers({2, 6, 7, 2});
  CHECK(grid_sampler_2d(x, grid, 0, 0, false).sizes() == IntArrayRef{2, 3, 6, 7});
  CHECK_THROWS_WITH(grid_sampler_2d(x, grid, 3, 0, false),
                    Catch::Contains("grid_sampler_2d: argument interpolation_mode"));
  CHECK_THROWS_WITH(grid_sampler_2d(x, grid, 0, 3, false),
                    Catch::Contains("grid_sampler_2d: argument padding_mode"));
  CHECK_THROWS_AS(grid_sampler_2d(x, numbers({1, 6, 7, 2}), 0, 0, false), RuntimeError);
  CHECK_THROWS_AS(grid_sampler_2d(x, numbers({2, 6, 7, 3}), 0, 0, false), RuntimeError);
  CHECK_THROWS_AS(grid_sampler_2d(numbers({2, 3, 0, 5}), grid, 0, 0, false), RuntimeError);
  CHECK_THROWS_AS(grid_sampler_2d(x, to_dtype(grid, DType::Float64), 0, 0, false), RuntimeError);
  CHECK_THROWS_AS(grid_sampler(numbers({2, 3, 4}), grid, 0, 0, false), RuntimeError);
}

TEST_CASE(
    "antialiased downsampling averages what each element stands for, upsampling interpolates") {
  const Tensor x = test::tensor_of({1, 1, 1, 4}, {0, 4, 8, 12});
  const auto to_width = [&](const auto& op, int64_t width) {
    return test::values_of(op(x, {1, width}, false, std::nullopt, std::nullopt));
  };
  const std::vector<double> half = to_width(_upsample_bilinear2d_aa, 2);
  // Weights 3 3 1 of 7, from the left.
  CHECK(half[0] == Approx((0 * 3 + 4 * 3 + 8 * 1) / 7.0));
  CHECK(half[1] == Approx((4 * 1 + 8 * 3 + 12 * 3) / 7.0));
  CHECK(to_width(_upsample_bilinear2d_aa, 4) == std::vector<double>{0, 4, 8, 12});
  CHECK(to_width(_upsample_bicubic2d_aa, 4) == std::vector<double>{0, 4, 8, 12});
  const std::vector<double> same = to_width(upsample_bilinear2d, 8);
  const std::vector<double> wide = to_width(_upsample_bilinear2d_aa, 8);
  for (size_t i = 0; i < 8; ++i) CHECK(wide[i] == Approx(same[i]).margin(1e-5));
}

TEST_CASE("padding, interpolation and pooling of channels-last images is channels-last") {
  const MemoryFormat last = MemoryFormat::ChannelsLast, last3d = MemoryFormat::ChannelsLast3d;
  const Tensor x = contiguous(numbers({2, 3, 4, 4}), last);
  CHECK(reflection_pad2d(x, {1, 1, 1, 1}).is_contiguous(last));
  CHECK(reflection_pad2d_backward(numbers({2, 3, 6, 6}), x, {1, 1, 1, 1}).is_contiguous(last));
  CHECK(upsample_bicubic2d(x, {6, 6}, false, std::nullopt, std::nullopt).is_contiguous(last));
  const Tensor y = contiguous(numbers({2, 3, 4, 4, 4}), last3d);
  CHECK(replication_pad3d(y, {1, 1, 1, 1, 1, 1}).is_contiguous(last3d));
  CHECK(std::get<0>(max_pool3d_with_indices(y, {2, 2, 2})).is_contiguous(last3d));
}

}  // namespace
}  // namespace sb
