#include "switchboard/ops/sorting/histogram.h"

#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::holds;
using test::tensor_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a histogram has the right end in its last box, and neither what is outside nor NaN") {
  const Tensor x = tensor_of({6}, {1, 2, 1, 3, 5, kNaN});
  const double range[] = {0, 3};
  const auto [hist, edges] = histogram_bin_ct(x, 3, OptionalDoubleArrayRef(range));
  CHECK(holds(edges, {0, 1, 2, 3}));
  CHECK(holds(hist, {0, 2, 2}));
}

TEST_CASE("the range of a histogram is that of its elements, or half a unit about a single one") {
  CHECK(holds(std::get<1>(histogram_bin_ct(tensor_of({2}, {1, 3}), 2)), {1, 2, 3}));
  CHECK(holds(std::get<1>(histogram_bin_ct(tensor_of({2}, {1, 1}), 2)), {0.5, 1, 1.5}));
  CHECK(holds(std::get<1>(histogram_bin_ct(tensor_of({0}, {}), 2)), {0, 0.5, 1}));
  CHECK_THROWS_AS(histogram_bin_ct(tensor_of({2}, {1, kNaN}), 2), RuntimeError);
}

TEST_CASE("a density weighs points and adds up to 1 over the boxes of a grid") {
  const Tensor points = tensor_of({3, 2}, {0, 0, 1, 3, 1, 4}), weight = tensor_of({3}, {2, 1, 1});
  const std::vector<Tensor> bins = {tensor_of({3}, {0, 1, 2}), tensor_of({3}, {0, 2, 4})};
  const auto [hist, edges] = histogramdd_TensorList_bins(points, bins, std::nullopt, weight, true);
  CHECK(holds(hist, {0.25, 0, 0, 0.25}));
}

TEST_CASE("histograms of integers have no kernel, and bins of another dtype are wrong") {
  CHECK_THROWS_AS(histogram_bin_ct(tensor_of({2}, {1, 2}, DType::Int64), 2), NotImplementedError);
  CHECK_THROWS_AS(
      histogram_bins_tensor(tensor_of({1}, {1}), tensor_of({2}, {0, 1}, DType::Float64)),
      RuntimeError);
}

}  // namespace
}  // namespace sb
