#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/statistics/variance.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check;
using test::leaf;
using test::leaf_of;
using test::Tensors;
using test::values_of;
using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("variances and deviations have derivatives in every dimension and correction") {
  const int64_t correction = GENERATE(0, 1);
  const bool keepdim = GENERATE(false, true);
  const Tensors in = {leaf({3, 2, 2})};
  check([&](const Tensors& x) { return var_correction(x[0], {{0, -1}}, correction, keepdim); }, in);
  check([&](const Tensors& x) { return std_correction(x[0], std::nullopt, correction, keepdim); },
        in);
}

TEST_CASE("the variance of one number has an infinite gradient, as PyTorch's does") {
  for (const Tensor& x : {leaf_of({}, {7}), leaf_of({1}, {7})}) {
    CHECK(values_of(grad({sum(var_all(x))}, {x})[0]) == Values{kInf});
    CHECK(values_of(grad({sum(std::get<0>(var_mean_all(x)))}, {x})[0]) == Values{kInf});
  }
}

}  // namespace
}  // namespace sb
