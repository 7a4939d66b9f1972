#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/group_norm.h"
#include "switchboard/ops/normalization/layer_norm.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/normalization/weight_norm.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::values_of;

Tensor noise(IntArrayRef sizes, double scale = 1, double shift = 0) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float32);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double v = static_cast<double>((i * 2654435761) % 1000003) / 1000003 - 0.5;
    x.data<float>()[i] = static_cast<float>(v * scale + shift);
  }
  return x;
}
double worst_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = values_of(a), y = values_of(b);
  REQUIRE(x.size() == y.size());
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}

TEST_CASE("softmax is as exact as float32 lets it be, along any dimension, for large numbers too") {
  const Tensor x = noise({3, 1030, 5}, 200, 1e4);
  const Tensor exact = cast_copy(x, DType::Float64);
  for (int64_t dim = 0; dim < 3; ++dim) {
    CHECK(worst_difference(softmax(x, dim), softmax(exact, dim)) < 1e-6);
    CHECK(worst_difference(log_softmax(x, dim), log_softmax(exact, dim)) < 2e-5);
    CHECK(worst_difference(sum(softmax(x, dim), {dim}), sum(softmax(exact, dim), {dim})) < 1e-6);
  }
}

TEST_CASE("softmax of what holds -inf is 0 there, and NaN where nothing else is") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> some = values_of(softmax(test::tensor_of({3}, {0, -inf, 0}), 0));
  CHECK(some == std::vector<double>{0.5, 0, 0.5});
  CHECK(std::isnan(values_of(softmax(test::tensor_of({2}, {-inf, -inf}), 0))[0]));
  CHECK(std::isnan(values_of(softmax(test::tensor_of({2, 2}, {inf, 0, 0, 0}), 0))[0]));
}

TEST_CASE("softmax of nothing takes any dtype, and its derivative ignores the dtype it is told") {
  CHECK(_softmax(test::tensor_of({2, 0}, {}, DType::Int16), 1, false).dtype() == DType::Int16);
  const Tensor x = noise({2, 4});
  CHECK(values_of(_softmax_backward_data(x, x, 1, DType::Int32)) ==
        values_of(_softmax_backward_data(x, x, 1, DType::Float32)));
  CHECK_THROWS_AS(_softmax_backward_data(x, x, 1, DType::Float16), RuntimeError);
}

TEST_CASE("layer norm keeps a small deviation beside a large mean") {
  const Tensor x = noise({4, 1000}, 1, 10000);
  const Tensor exact = cast_copy(x, DType::Float64);
  const auto [y, mean, rstd] = native_layer_norm(x, {1000}, {}, {}, 1e-5);
  const auto [y64, mean64, rstd64] = native_layer_norm(exact, {1000}, {}, {}, 1e-5);
  CHECK(worst_difference(rstd, rstd64) < 1e-5);
  // The mean itself is rounded to float32.
  CHECK(worst_difference(y, y64) < 5e-3);
}

TEST_CASE("normalised numbers do not depend on the number of threads, bit by bit") {
  const int threads = get_num_threads();
  const Tensor x = noise({200, 300}), image = noise({4, 6, 40, 50});
  const Tensor w = noise({300}), g = noise({200, 300}, 3), c = noise({6});
  std::vector<std::vector<double>> expected;
  for (const int n : {1, 3}) {
    set_num_threads(n);
    std::vector<std::vector<double>> all;
    const auto add = [&](const auto&... t) { (all.push_back(values_of(t)), ...); };
    add(softmax(x, 0), softmax(x, 1));
    std::apply(add, native_layer_norm(x, {300}, w, w, 1e-5));
    const auto [y, mean, rstd] = native_layer_norm(x, {300}, w, w, 1e-5);
    const bool mask[] = {true, true, true};
    std::apply(add, native_layer_norm_backward(g, x, {300}, mean, rstd, w, w, mask));
    const auto [b, m, s] = native_batch_norm(image, c, c, {}, {}, true, 0.1, 1e-5);
    add(b, m, s);
    std::apply(add, native_batch_norm_backward(b, image, c, {}, {}, m, s, true, 1e-5, mask));
    std::apply(add, native_group_norm(image, c, c, 4, 6, 2000, 3, 1e-5));
    if (n == 1) expected = all;
    CHECK(all == expected);
  }
  set_num_threads(threads);
}

TEST_CASE("batch norm of channels-last images agrees with that of contiguous ones") {
  const Tensor x = noise({3, 5, 7, 9}), w = noise({5}), g = noise({3, 5, 7, 9}, 2);
  const Tensor last = contiguous(x, MemoryFormat::ChannelsLast);
  const auto [y, mean, invstd] = native_batch_norm(x, w, w, {}, {}, true, 0.1, 1e-5);
  const auto [z, mean2, invstd2] = native_batch_norm(last, w, w, {}, {}, true, 0.1, 1e-5);
  CHECK(test::strides_of(z) == test::strides_of(last));
  CHECK(worst_difference(y, z) < 1e-6);
  const bool mask[] = {true, true, true};
  const auto a = native_batch_norm_backward(g, x, w, {}, {}, mean, invstd, true, 1e-5, mask);
  const auto b = native_batch_norm_backward(g, last, w, {}, {}, mean, invstd, true, 1e-5, mask);
  CHECK(worst_difference(std::get<0>(a), std::get<0>(b)) < 1e-6);
  CHECK(worst_difference(std::get<1>(a), std::get<1>(b)) < 1e-4);
  CHECK(worst_difference(std::get<2>(a), std::get<2>(b)) < 1e-4);
}

TEST_CASE("training updates the running statistics, evaluation reads them") {
  const Tensor x = noise({50, 2}), mean = noise({2}, 0), var = noise({2}, 0, 1);
  native_batch_norm(x, {}, {}, mean, var, true, 1.0, 1e-5);
  const auto [y, m, s] = native_batch_norm(x, {}, {}, mean, var, false, 1.0, 0);
  CHECK(m.numel() == 0);
  for (double v : values_of(sb::mean(y, {0}))) CHECK(std::abs(v) < 1e-6);
  // By the unbiased variance.
  for (double v : values_of(sum(mul(y, y), {0}))) CHECK(v == Approx(49).epsilon(1e-5));
  const std::vector<double> before = values_of(mean);
  CHECK_THROWS_AS(native_batch_norm(x, noise({3}), {}, mean, var, true, 1.0, 1e-5), RuntimeError);
  CHECK(values_of(mean) == before);
}

TEST_CASE("an out that is refused leaves the running statistics alone") {
  const Tensor x = noise({8, 3});
  const Tensor mean = noise({3}), var = noise({3}), out = noise({8, 3});
  const std::vector<double> before = values_of(mean), before_var = values_of(var);
  const Tensor one = noise({1}), save = noise({3}), scalar = expand(one, {3});
  CHECK_THROWS_AS(native_batch_norm_out(x, {}, {}, mean, var, true, 0.5, 1e-5, out, save, Tensor()),
                  Error);
  CHECK_THROWS_AS(native_batch_norm_out(x, {}, {}, mean, var, true, 0.5, 1e-5, out, save, scalar),
                  Error);
  CHECK_THROWS_AS(native_batch_norm_out(x, {}, {}, mean, var, true, 0.5, 1e-5, out, save, save),
                  Error);
  const Tensor doubles = empty_on(DeviceType::CPU, {3}, DType::Float64);
  CHECK_THROWS_AS(native_batch_norm_out(x, {}, {}, mean, var, true, 0.5, 1e-5, out, doubles, save),
                  Error);
  CHECK(values_of(mean) == before);
  CHECK(values_of(var) == before_var);
  native_batch_norm_out(x, {}, {}, mean, var, true, 1.0, 1e-5, out, save, noise({3}));
  CHECK(values_of(mean) == values_of(save));
}

TEST_CASE("a batch of nothing has no statistics, and divides by nothing") {
  const auto [y, mean, invstd] = native_batch_norm(noise({0, 3}), {}, {}, {}, {}, true, 0.1, 1e-5);
  CHECK(y.numel() == 0);
  for (double v : values_of(mean)) CHECK(std::isnan(v));
  const auto groups = native_group_norm(noise({2, 4, 0}), {}, {}, 2, 4, 0, 2, 1e-5);
  CHECK(std::isnan(values_of(std::get<2>(groups))[0]));
}

TEST_CASE("sizes that do not fit are refused") {
  const Tensor x = noise({2, 4});
  CHECK_THROWS_AS(native_group_norm(x, {}, {}, int64_t{1} << 40, int64_t{1} << 40, 4, 2, 1e-5),
                  RuntimeError);
  CHECK_THROWS_AS(native_group_norm(x, {}, {}, 2, 4, 1, 0, 1e-5), RuntimeError);
  CHECK_THROWS_AS(native_group_norm(x, {}, {}, -2, -4, 1, 2, 1e-5), RuntimeError);
  CHECK_THROWS_AS(native_layer_norm(x, {2, 2, 4}, {}, {}, 1e-5), RuntimeError);
  CHECK_THROWS_AS(softmax(Tensor(), 0), RuntimeError);
  const bool mask[] = {true, true};
  CHECK_THROWS_AS(
      native_batch_norm_backward(x, x, {}, {}, {}, noise({4}), noise({4}), true, 1e-5, mask),
      RuntimeError);
}

TEST_CASE("weight norm gives weights the lengths that it is told, along one dimension or all") {
  const Tensor v = test::tensor_of({2, 2}, {3, 4, 6, 8});
  const auto [w, norms] = _weight_norm_interface(v, test::tensor_of({2, 1}, {10, 1}), 0);
  CHECK(test::values_of(norms) == std::vector<double>{5, 10});
  CHECK(test::holds(w, {6, 8, 0.6f, 0.8f}));
  CHECK(test::holds(norm_except_dim(v, 2, 0), {5, 10}));
  CHECK(test::values_of(_weight_norm(v, test::tensor_of({1, 2}, {1, 1}), 1))[3] ==
        Approx(8 / std::sqrt(80.0)));
  CHECK(test::values_of(_weight_norm(v, test::tensor_of({}, {1}), -1))[0] ==
        Approx(3 / std::sqrt(125.0)));
  CHECK_THROWS_WITH(_weight_norm_interface(v, test::tensor_of({1, 2}, {1, 1}), 0),
                    Catch::Contains("argument g: expected the shape [2, 1]"));
  const Tensor deep = test::tensor_of({1, 2, 1}, {1, 1});
  CHECK_THROWS_WITH(_weight_norm_interface(deep, deep, 1), Catch::Contains("argument dim"));
}

TEST_CASE("the norms of weights lie in memory as their lengths do, which backward wants dense") {
  const Tensor v = test::tensor_of({2, 2}, {3, 4, 6, 8});
  const Tensor g = slice(test::tensor_of({2, 2}, {10, 0, 1, 0}), 1, 0, 1);
  const Tensor norms = std::get<1>(_weight_norm_interface(v, g, 0));
  CHECK(test::strides_of(norms) == test::Sizes{2, 1});
  CHECK(test::holds(norms, {5, 10}));
  CHECK_THROWS_AS(_weight_norm_interface_backward(v, v, g, norms, 0), RuntimeError);
}

TEST_CASE("rms_norm divides by the root of the mean square, in float32 at least") {
  const Tensor x = test::tensor_of({2, 2}, {3, 4, 0, 0});
  const std::vector<double> y = values_of(rms_norm(x, {2}, test::tensor_of({2}, {1, 2}), 0));
  CHECK(y[0] == Approx(3 / std::sqrt(12.5)));
  CHECK(y[1] == Approx(8 / std::sqrt(12.5)));
  CHECK(values_of(rms_norm(x, {2}))[2] == 0);
  CHECK(rms_norm(to_dtype(x, DType::BFloat16), {2}).dtype() == DType::BFloat16);
  CHECK_THROWS_WITH(rms_norm(x, {3}), Catch::Contains("rms_norm: argument normalized_shape"));
  CHECK_THROWS_WITH(rms_norm(x, {2}, test::tensor_of({1}, {1})),
                    Catch::Contains("rms_norm: argument weight"));
}

TEST_CASE("a row that is all hidden has no softmax, and a safe one of zeros") {
  const double hidden = -std::numeric_limits<double>::infinity();
  const Tensor x = test::tensor_of({2, 2}, {hidden, hidden, hidden, 1});
  CHECK(values_of(_safe_softmax(x, -1)) == std::vector<double>{0, 0, 0, 1});
  CHECK(_safe_softmax(x, 0, DType::Float64).dtype() == DType::Float64);
}

}  // namespace
}  // namespace sb
