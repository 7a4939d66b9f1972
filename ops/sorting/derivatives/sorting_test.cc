#include <limits>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/sorting/select.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::leaf_of;
using test::tensor_of;
using test::values_of;
using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("an infinite gradient of the median leaves the other elements at 0") {
  const Tensor x = leaf_of({3}, {1, 3, 2});
  CHECK(values_of(grad({median(x)}, {x}, {tensor_of({}, {kInf}, DType::Float64)})[0]) ==
        Values{0, 0, kInf});
}

TEST_CASE("the cumulative logsumexp of a number is that number, be it infinite") {
  const Tensor x = leaf_of({}, {kInf});
  CHECK(values_of(grad({logcumsumexp(x, 0)}, {x})[0]) == Values{1});
}

}  // namespace
}  // namespace sb
