#include "switchboard/ops/cpu/reduce.h"

#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::values_of;

Tensor filled(IntArrayRef sizes, double (*f)(int64_t), DType dtype = DType::Float32) {
  const Tensor x = empty_on(DeviceType::CPU, sizes, DType::Float64);
  for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] = f(i);
  return cast_copy(x, dtype);
}
double noise(int64_t i) { return static_cast<double>((i * 2654435761) % 1000003) / 1000003 - 0.5; }
// What the sum should be, and what the sum of magnitudes is: the scale of errors.
struct Exact {
  long double sum = 0, magnitude = 0;
  explicit Exact(const Tensor& x) {
    for (double v : values_of(x)) {
      sum += static_cast<long double>(v);
      magnitude += static_cast<long double>(std::abs(v));
    }
  }
};
double sum_of(const Tensor& x) { return item(sum(x)).to<double>(); }
Reduction reduction_of(bool largest) { return largest ? Reduction::Max : Reduction::Min; }

TEST_CASE(
    "sums of float32 are exact but for rounding the result, where rounding errors do not "
    "cancel by chance") {
  const auto tiny = [](int64_t) { return 1e-8; };
  const auto uneven = [](int64_t i) { return 1.0 / static_cast<double>(i + 1); };
  for (const auto f : {+tiny, +uneven}) {
    const Tensor x = filled({1 << 20}, f);
    CHECK(sum_of(x) == Approx(static_cast<double>(Exact(x).sum)).epsilon(3e-7));
  }
}

TEST_CASE("sums of a million float32 are off by a few units in the last place") {
  // In each 64 neighbours the large ones cancel; float32 holds the rest of them exactly.
  const Tensor x = filled({1 << 18}, [](int64_t i) {
    return i % 128 == 0 ? 4096.0 : i % 128 == 64 ? -4096.0 : 1.0 / 1024;
  });
  CHECK(sum_of(x) == static_cast<double>(Exact(x).sum));
  const Tensor alternating = filled({1 << 18}, [](int64_t i) { return i % 2 == 0 ? 0.1 : -0.1; });
  CHECK(sum_of(alternating) == 0);
}

TEST_CASE("sums of float64 lose less than one unit of the sum of magnitudes, along any dimension") {
  const Tensor x = filled(
      {1 << 16, 3}, [](int64_t i) { return noise(i) * 1e10 + 1e-6; }, DType::Float64);
  const Exact exact(x);
  const double scale = static_cast<double>(exact.magnitude);
  CHECK(std::abs(sum_of(x) - static_cast<double>(exact.sum)) < 2e-16 * scale);
  const Tensor columns = sum(x, {0});
  for (int64_t c = 0; c < 3; ++c) {
    const Exact column(select(x, 1, c));
    CHECK(std::abs(columns.data<double>()[c] - static_cast<double>(column.sum)) < 2e-16 * scale);
  }
}

TEST_CASE("16-bit floats are added up in wider ones") {
  const DType dtype = GENERATE(DType::Float16, DType::BFloat16);
  const Tensor x = filled(
      {1 << 16}, [](int64_t) { return 0.5; }, dtype);
  CHECK(item(mean(x)).to<double>() == 0.5);
  CHECK(sum_of(filled(
            {4096}, [](int64_t) { return 1.0 / 64; }, dtype)) == 64);
  // Not within float16, but within what it is computed in.
  CHECK(item(mean(filled(
                 {1 << 12}, [](int64_t) { return 30000.0; }, DType::Float16)))
            .to<double>() == Approx(30000).epsilon(1e-3));
}

TEST_CASE("a sum that overflows is infinite, not NaN") {
  const Tensor x = filled(
      {4, 200}, [](int64_t) { return 1e308; }, DType::Float64);
  CHECK(std::isinf(sum_of(x)));
  for (double v : values_of(sum(x, {0}))) CHECK(std::isinf(v));
  const Tensor infinite = filled({3}, [](int64_t i) { return i == 1 ? INFINITY : 1.0; });
  CHECK(sum_of(infinite) == INFINITY);
}

TEST_CASE("results do not depend on the number of threads, bit by bit") {
  const int threads = get_num_threads();
  struct Case {
    std::vector<int64_t> sizes, dims;
  };
  const Case cases[] = {{{1 << 19}, {0}},    {{300, 1000}, {0}},  {{300, 1000}, {1}},
                        {{2, 1 << 18}, {1}}, {{1 << 18, 2}, {0}}, {{64, 3, 1024}, {0, 2}},
                        {{20000, 7}, {1}}};
  for (const Case& c : cases) {
    const Tensor x = filled(c.sizes, noise);
    DimSet dims;
    std::vector<int64_t> sizes;
    for (int64_t d : c.dims) dims.set(static_cast<size_t>(d));
    for (size_t d = 0; d < c.sizes.size(); ++d) {
      if (!dims[d]) sizes.push_back(c.sizes[d]);
    }
    for (const Reduction kind : {Reduction::Sum, Reduction::Variance, Reduction::Norm2,
                                 Reduction::LogSumExp, Reduction::Max}) {
      std::vector<double> expected;
      for (const int n : {1, 2, 5}) {
        set_num_threads(n);
        const Tensor out = empty_on(DeviceType::CPU, sizes, DType::Float32);
        reduce_into(kind, x, dims, DType::Float32, out);
        if (n == 1) expected = values_of(out);
        CHECK(values_of(out) == expected);
      }
    }
  }
  set_num_threads(threads);
}

TEST_CASE("every kind agrees with a plain loop, along any dimension and for any strides") {
  const Tensor plain = filled({7, 130, 11}, noise, DType::Float64);
  const std::vector<Tensor> all = {plain, permute(plain, {2, 0, 1}), slice(plain, 1, 3, 120, 2)};
  for (const Tensor& x : all) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      const int64_t n = x.size(dim);
      std::vector<double> sums, squares, largest, logs;
      const Tensor last = movedim_int(x, dim, 2);
      const std::vector<double> values = values_of(last);
      for (size_t i = 0; i < values.size(); i += static_cast<size_t>(n)) {
        double sum = 0, exps = 0, max = -INFINITY, square = 0;
        for (size_t k = i; k < i + static_cast<size_t>(n); ++k) {
          sum += values[k];
          exps += std::exp(values[k]);
          max = std::max(max, values[k]);
        }
        for (size_t k = i; k < i + static_cast<size_t>(n); ++k) {
          square += std::pow(values[k] - sum / static_cast<double>(n), 2);
        }
        sums.push_back(sum);
        logs.push_back(std::log(exps));
        largest.push_back(max);
        squares.push_back(square / static_cast<double>(n - 1));
      }
      const auto check = [&](Reduction kind, const std::vector<double>& expected) {
        std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
        sizes.erase(sizes.begin() + dim);
        const Tensor out = empty_on(DeviceType::CPU, sizes, DType::Float64);
        reduce_into(kind, x, DimSet().set(static_cast<size_t>(dim)), DType::Float64, out);
        const std::vector<double> got = values_of(out);
        REQUIRE(got.size() == expected.size());
        double worst = 0;
        for (size_t i = 0; i < got.size(); ++i) {
          worst = std::max(worst, std::abs(got[i] - expected[i]));
        }
        CHECK(worst < 1e-13);
      };
      check(Reduction::Sum, sums);
      check(Reduction::Variance, squares);
      check(Reduction::Max, largest);
      check(Reduction::LogSumExp, logs);
    }
  }
}

TEST_CASE("a complex number with either part is counted as one that is not 0") {
  const Tensor x = empty_on(DeviceType::CPU, {4}, DType::Complex64);
  float* const parts = reinterpret_cast<float*>(x.data_ptr());
  for (int i = 0; i < 8; ++i) parts[i] = i == 1 || i == 4 || i == 7;
  const Tensor out = empty_on(DeviceType::CPU, {}, DType::Int64);
  reduce_into(Reduction::CountNonzero, x, DimSet().set(), DType::Bool, out);
  CHECK(out.data<int64_t>()[0] == 3);
  CHECK(item(any(x)).to<bool>());
  CHECK_FALSE(item(all(x)).to<bool>());
}

TEST_CASE("a bool is true whatever its byte, if that is not 0") {
  const Tensor x = empty_on(DeviceType::CPU, {2, 13}, DType::Bool);
  uint8_t* const bytes = static_cast<uint8_t*>(x.data_ptr());
  for (int i = 0; i < 26; ++i) bytes[i] = static_cast<uint8_t>(i % 13 < 10 ? 25 * i + 1 : 0);
  bytes[0] = 0x80;
  for (const int64_t dim : {0, 1}) {
    const auto reduced = DimSet().set(static_cast<size_t>(dim));
    const Tensor out = empty_on(DeviceType::CPU, {dim == 0 ? 13 : 2}, DType::Int64);
    reduce_into(Reduction::CountNonzero, x, reduced, DType::Bool, out);
    int64_t expected[13] = {};
    for (int i = 0; i < 26; ++i) expected[dim == 0 ? i % 13 : i / 13] += bytes[i] != 0;
    for (int64_t i = 0; i < out.numel(); ++i) CHECK(out.data<int64_t>()[i] == expected[i]);
  }
  CHECK(item(all(slice(x, 1, 0, 10))).to<bool>());
  CHECK_FALSE(item(all(x)).to<bool>());
}

TEST_CASE("norms of float32 hold where squares leave its range") {
  const auto norm = [](const Tensor& x, DimSet dims, IntArrayRef sizes) {
    const Tensor out = empty_on(DeviceType::CPU, sizes, DType::Float32);
    reduce_into(Reduction::Norm2, x, dims, DType::Float32, out);
    return values_of(out);
  };
  for (const double scale : {1e-30, 1.0, 1e30}) {
    const Tensor x = empty_on(DeviceType::CPU, {500, 20}, DType::Float32);
    std::fill_n(x.data<float>(), x.numel(), static_cast<float>(scale));
    CHECK(norm(x, DimSet().set(), {})[0] == Approx(100 * scale).epsilon(1e-6));
    for (double v : norm(x, DimSet().set(0), {20})) {
      CHECK(v == Approx(std::sqrt(500) * scale).epsilon(1e-6));
    }
  }
}

TEST_CASE("NaN is found wherever it stands, and by both extremes") {
  const bool largest = GENERATE(true, false);
  for (const int64_t at : {0, 63, 64, 1023, 1024, 1500}) {
    const Tensor x = filled({1501}, noise);
    x.data<float>()[at] = NAN;
    const Tensor out = empty_on(DeviceType::CPU, {}, DType::Float32);
    reduce_into(reduction_of(largest), x, DimSet().set(), DType::Float32, out);
    CHECK(std::isnan(out.data<float>()[0]));
  }
}

}  // namespace
}  // namespace sb
