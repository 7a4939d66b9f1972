#include "switchboard/ops/linalg/distance.h"

#include "catch2/catch.hpp"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

TEST_CASE("where there is no distance, the gradient is laid out as a tensor like the points") {
  const Tensor points = transpose(zeros({0, 5, 4}), 1, 2), none = zeros({0, 4, 3});
  const Tensor grad = _cdist_backward(none, points, zeros({3, 5}), 2, none);
  CHECK(test::sizes_of(grad) == test::Sizes{0, 4, 5});
  CHECK(test::strides_of(grad) == test::strides_of(points));
}

TEST_CASE("distances of an order below 0 are refused, of points that are not contiguous by pdist") {
  const Tensor x = test::tensor_of({3, 2}, {0, 0, 3, 4, 6, 8});
  CHECK_THROWS_AS(cdist(x, x, -1), RuntimeError);
  CHECK_THROWS_AS(pdist(x, -1), RuntimeError);
  const Tensor transposed = transpose(test::tensor_of({2, 3}, {0, 3, 6, 0, 4, 8}), 0, 1);
  CHECK_THROWS_AS(_pdist_forward(transposed, 2), RuntimeError);
  CHECK(test::holds(pdist(transposed), {5, 10, 5}));
}

}  // namespace
}  // namespace sb
