#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/sorting/counts.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/sorting/quantile.h"
#include "switchboard/ops/sorting/search.h"
#include "switchboard/ops/sorting/select.h"
#include "switchboard/ops/sorting/sort.h"
#include "switchboard/ops/sorting/unique.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <class T>
Tensor tensor(const std::vector<T>& values) {
  const Tensor t = empty_on(DeviceType::CPU, {static_cast<int64_t>(values.size())}, dtype_of<T>);
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}
template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return std::vector<T>(dense.data<T>(), dense.data<T>() + dense.numel());
}
std::vector<float> random_floats(size_t n) {
  std::mt19937 bits(1);
  std::vector<float> result(n);
  for (float& x : result) x = static_cast<float>(static_cast<int>(bits() % 2001) - 1000) / 8;
  return result;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("a long row is sorted as the standard library sorts it, and equal elements stay in order",
          "[ops][sorting]") {
  const bool descending = GENERATE(false, true);
  const std::vector<float> input = random_floats(5000);
  std::vector<int64_t> order(input.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const float x = input[static_cast<size_t>(a)];
    const float y = input[static_cast<size_t>(b)];
    return descending ? x > y : x < y;
  });
  const auto [sorted, indices] = sort(tensor(input), 0, descending);
  CHECK(values<int64_t>(indices) == order);
  CHECK(values<float>(sorted)[17] == input[static_cast<size_t>(order[17])]);
}

TEST_CASE("NaN is sorted above infinity, and zeros of both signs are equal", "[ops][sorting]") {
  const Tensor t = tensor<float>({kNan, 0.0f, kInfinity, -0.0f, -kInfinity, -kNan});
  CHECK(values<int64_t>(argsort(t)) == std::vector<int64_t>{4, 1, 3, 2, 0, 5});
  CHECK(values<int64_t>(argsort(t, 0, true)) == std::vector<int64_t>{0, 5, 2, 1, 3, 4});
}

TEST_CASE("64-bit integers that a double could not tell apart are sorted", "[ops][sorting]") {
  const int64_t big = int64_t{1} << 62;
  const Tensor t = tensor<int64_t>({big + 1, big, INT64_MIN, INT64_MAX, big + 2});
  CHECK(values<int64_t>(argsort(t)) == std::vector<int64_t>{2, 1, 0, 4, 3});
}

TEST_CASE("rows give the same on one thread and on several", "[ops][sorting]") {
  const Tensor matrix = view(tensor(random_floats(300 * 700)), {300, 700});
  const int threads = get_num_threads();
  set_num_threads(1);
  const std::vector<int64_t> sorted = values<int64_t>(argsort(matrix, 0));
  const std::vector<float> sums = values<float>(cumsum(matrix, 1));
  set_num_threads(4);
  CHECK(values<int64_t>(argsort(matrix, 0)) == sorted);
  CHECK(values<float>(cumsum(matrix, 1)) == sums);
  set_num_threads(threads);
}

TEST_CASE("of equal medians, the one is found that a stable sort puts in the middle",
          "[ops][sorting]") {
  const auto index = [](const std::vector<float>& row) {
    return values<int64_t>(std::get<1>(median_dim(tensor(row), 0)))[0];
  };
  // As PyTorch says.
  CHECK(index({6, 6, 1, 7, 2}) == 0);
  CHECK(index({2, 2, 3, 2, 3}) == 3);
  CHECK(index({1, 1, 3, 3, 2}) == 4);
  CHECK(index({3, 2, 2, 2, 3, 1}) == 2);
  CHECK(index({2, 3, 2, 3, 2, 2, 2}) == 5);
  CHECK(index({1, 2, 1}) == 2);
}

TEST_CASE("kthvalue of every k walks through the sorted row", "[ops][sorting]") {
  const std::vector<float> input = random_floats(97);
  std::vector<float> sorted = input;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t k = 1; k <= 97; ++k) {
    const auto [value, index] = kthvalue(tensor(input), k);
    REQUIRE(*value.data<float>() == sorted[static_cast<size_t>(k - 1)]);
    REQUIRE(input[static_cast<size_t>(*index.data<int64_t>())] == *value.data<float>());
  }
}

TEST_CASE("diff of no steps looks at what it would prepend, and there are no negative steps",
          "[ops][sorting]") {
  const Tensor x = tensor<float>({1, 4, 9}), out = tensor<float>({});
  CHECK_THROWS_AS(diff(x, -1), RuntimeError);
  CHECK(values<float>(diff_out(x, 0, 0, x, {}, out)) == std::vector<float>{1, 4, 9});
  CHECK_THROWS_AS(diff_out(x, 0, 5, x, {}, out), IndexError);
  CHECK_THROWS_AS(diff_out(x, -1, 0, {}, {}, out), RuntimeError);
}

TEST_CASE("a long float32 cumsum does not drift", "[ops][sorting]") {
  const Tensor t = tensor(std::vector<float>(1000000, 0.1f));
  const std::vector<float> sums = values<float>(cumsum(t, 0));
  CHECK(sums.back() == static_cast<float>(1e6 * static_cast<double>(0.1f)));
}

TEST_CASE("logcumsumexp keeps infinities and does not overflow", "[ops][sorting]") {
  const std::vector<double> sums =
      values<double>(logcumsumexp(tensor<double>({-INFINITY, 1000, 1000, INFINITY, 0}), 0));
  CHECK(sums[0] == -INFINITY);
  CHECK(sums[1] == 1000);
  CHECK(sums[2] == Approx(1000 + std::log(2)));
  CHECK(sums[3] == INFINITY);
  CHECK(sums[4] == INFINITY);
}

TEST_CASE("a scan gives the same whether rows lie in one piece or side by side", "[ops][sorting]") {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Int64}) {
    const Tensor x = to_dtype(view(tensor(random_floats(3 * 5 * 70)), {3, 5, 70}), dtype);
    for (const auto& scan : {+[](const Tensor&t, int64_t d) { return cumsum(t, d); },
                             +[](const Tensor&t, int64_t d) { return cumprod(t, d); }}) {
      const Tensor one_piece = contiguous(transpose(x, 1, 2));
      CHECK(equal(scan(x, 1), transpose(scan(one_piece, 2), 1, 2)));
      CHECK(equal(scan(x, 0), permute(scan(contiguous(permute(x, {1, 2, 0})), 2), {2, 0, 1})));
    }
  }
}

TEST_CASE("cumsum_ of a transposed matrix runs along its own rows", "[ops][sorting]") {
  const Tensor t = tensor<int64_t>({1, 2, 3, 4});
  const Tensor matrix = transpose(view(t, {2, 2}), 0, 1);
  cumsum_(matrix, 0);
  CHECK(values<int64_t>(t) == std::vector<int64_t>{1, 3, 3, 7});
}

TEST_CASE("NaN is found behind everything and is never among others", "[ops][sorting]") {
  const Tensor row = tensor<float>({1, 2, kNan});
  CHECK(values<int64_t>(searchsorted(row, tensor<float>({kNan, 2}))) == std::vector<int64_t>{3, 1});
  CHECK(values<bool>(isin(tensor<float>({kNan, 2}), row)) == std::vector<bool>{false, true});
}

TEST_CASE("a sorter that points outside its row is refused before anything is written",
          "[ops][sorting]") {
  const Tensor row = tensor<int64_t>({1, 2});
  const Tensor out = tensor<int64_t>({7, 7});
  const Tensor sorter = tensor<int64_t>({0, 1000000});
  CHECK_THROWS_AS(searchsorted_out(row, row, false, false, std::nullopt, sorter, out),
                  RuntimeError);
  CHECK(values<int64_t>(out) == std::vector<int64_t>{7, 7});
}

TEST_CASE("bincount refuses numbers that no tensor can count", "[ops][sorting]") {
  CHECK_THROWS_AS(bincount(tensor<int64_t>({-1})), RuntimeError);
  CHECK_THROWS_AS(bincount(tensor<int64_t>({INT64_MAX})), RuntimeError);
  CHECK_THROWS_AS(bincount(tensor<int64_t>({INT64_MAX - 1})), RuntimeError);
}

TEST_CASE("each NaN is unique", "[ops][sorting]") {
  const auto [distinct, inverse, counts] =
      _unique2(tensor<float>({kNan, 1, kNan, 1}), true, true, true);
  CHECK(values<int64_t>(inverse) == std::vector<int64_t>{1, 0, 2, 0});
  CHECK(values<int64_t>(counts) == std::vector<int64_t>{2, 1, 1});
}

TEST_CASE("unique elements are sorted, and come with what is asked for alone", "[ops][sorting]") {
  const auto [distinct, inverse, counts] =
      _unique2(tensor<int64_t>({3, -1, 3, 2}), false, false, true);
  CHECK(values<int64_t>(distinct) == std::vector<int64_t>{-1, 2, 3});
  CHECK(inverse.numel() == 0);
  CHECK(values<int64_t>(counts) == std::vector<int64_t>{1, 1, 2});
}

TEST_CASE("a quantile lies between sorted elements, as interpolation says", "[ops][sorting]") {
  const Tensor x = tensor<float>({3, 1, 2, 10});
  const auto at = [&](double q, std::string_view interpolation) {
    return values<float>(quantile_scalar(x, q, std::nullopt, false, interpolation))[0];
  };
  CHECK(at(0.5, "linear") == 2.5f);
  CHECK(at(0.5, "lower") == 2);
  CHECK(at(0.5, "higher") == 3);
  CHECK(at(0.75, "midpoint") == 6.5f);
  CHECK(at(0.4, "nearest") == 2);
  CHECK(at(1, "linear") == 10);
  CHECK_THROWS_WITH(at(1.5, "linear"), Catch::Contains("quantile: argument q"));
  CHECK_THROWS_WITH(at(0.5, "odd"), Catch::Contains("quantile: argument interpolation"));
  CHECK_THROWS_AS(quantile_scalar(tensor<float>({}), 0.5), RuntimeError);
  CHECK_THROWS_AS(quantile_scalar(tensor<int64_t>({1}), 0.5), RuntimeError);

  const Tensor with_nan = view(tensor<float>({1, 2, NAN, 4, 3, 5}), {2, 3});
  const Tensor parts = tensor<float>({0, 0.5f});
  const std::vector<float> spoiled = values<float>(quantile(with_nan, parts, 1));
  CHECK(std::isnan(spoiled[0]));
  CHECK(spoiled[1] == 3);
  CHECK(values<float>(nanquantile(with_nan, parts, 1)) == std::vector<float>{1, 3, 1.5f, 4});
  CHECK(quantile(with_nan, parts, 1, true).sizes() == IntArrayRef{2, 2, 1});
  CHECK(quantile(with_nan, parts, std::nullopt, true).sizes() == IntArrayRef{2, 1, 1});
}

}  // namespace
}  // namespace sb
