#include "switchboard/ops/sorting/gradient.h"

#include "catch2/catch.hpp"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;
using test::values_of;

// x^2 + 3x + 1 and its derivative.
constexpr double value(double x) { return x * x + 3 * x + 1; }
constexpr double slope(double x) { return 2 * x + 3; }

TEST_CASE("differences of second order are exact for a parabola, at the ends too") {
  const std::vector<double> points = {0, 0.5, 2, 3, 7};
  std::vector<double> even, uneven;
  for (double x : points) uneven.push_back(value(x));
  for (int i = 0; i < 5; ++i) even.push_back(value(0.5 * i));
  const Tensor x = tensor_of({5}, points, DType::Float64);
  const Tensor a =
      gradient_tensorarray(tensor_of({5}, uneven, DType::Float64), {&x, 1}, {0}, 2).at(0);
  const Tensor b = gradient_scalararray(tensor_of({5}, even, DType::Float64), 0.5, {-1}, 2).at(0);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(values_of(a)[i] == Approx(slope(points[i])));
    CHECK(values_of(b)[i] == Approx(slope(0.5 * static_cast<double>(i))));
  }
}

TEST_CASE("there is a gradient for each dimension, and none of a number") {
  const Tensor x = tensor_of({2, 3}, {1, 2, 4, 3, 5, 9});
  const std::vector<Tensor> both = gradient_scalarint(x);
  REQUIRE(both.size() == 2);
  CHECK(values_of(both[0]) == std::vector<double>{2, 3, 5, 2, 3, 5});
  CHECK(values_of(both[1]) == std::vector<double>{1, 1.5, 2, 2, 3, 4});
  CHECK(gradient_scalarint(tensor_of({}, {1})).empty());
}

TEST_CASE("dimensions, spacings and sizes that do not fit are refused") {
  const Tensor x = tensor_of({2, 3}, {1, 2, 4, 3, 5, 9});
  const std::vector<Scalar> spacings = {1.0, 2.0};
  CHECK_THROWS_AS(gradient_array(x, {0, -2}), RuntimeError);
  CHECK_THROWS_AS(gradient_array(x, {2}), IndexError);
  CHECK_THROWS_AS(gradient_array(x, {0}, 2), RuntimeError);
  CHECK_THROWS_AS(gradient_array(x, {1}, 3), RuntimeError);
  CHECK_THROWS_AS(gradient_scalarrayarray(x, spacings, {1}), RuntimeError);
  const Tensor undefined;
  CHECK_THROWS_AS(gradient_tensorarray(x, {&undefined, 1}, {1}), RuntimeError);
  CHECK_THROWS_AS(gradient_array(tensor_of({3}, {1, 2, 3}, DType::UInt8), {0}), RuntimeError);
}

}  // namespace
}  // namespace sb
