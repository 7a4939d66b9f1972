#include "switchboard/ops/arithmetic/comparison.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::holds;
using test::places;
using test::tensor_of;

TEST_CASE("comparisons give bool tensors", "[ops][comparison]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {1, 2, NAN}, DType::Float32, place);
  CHECK((x < 2).dtype() == DType::Bool);
  CHECK(holds(x < 2, {1, 0, 0}));
  CHECK(holds(x != x, {0, 0, 1}));
  CHECK(holds(x == x, {1, 1, 0}));
}

TEST_CASE("a given output of a comparison may have any dtype", "[ops][comparison]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({2}, {1, 2}, DType::Int64, place);
  const Tensor out = tensor_of({2}, {7, 7}, DType::Float32, place);
  ge_out(x, x, out);
  CHECK(holds(out, {1, 1}));
  eq_(x, x);
  CHECK(holds(x, {1, 1}));
}

TEST_CASE("complex numbers have no order", "[ops][comparison]") {
  auto place = GENERATE(from_range(places()));
  const Tensor z = tensor_of({1}, {1}, DType::Complex64, place);
  CHECK(holds(z == z, {1}));
  CHECK_THROWS_AS(lt(z, z), Error);
  CHECK_THROWS_AS(maximum(z, z), Error);
}

TEST_CASE("maximum and minimum pass NaN on", "[ops][comparison]") {
  const Tensor x = tensor_of({3}, {1, NAN, 3}), y = tensor_of({3}, {2, 2, NAN});
  CHECK(holds(maximum(x, y) == maximum(x, y), {1, 0, 0}));
  CHECK(holds(minimum(x, tensor_of({}, {0})) == 0, {1, 0, 1}));
}

TEST_CASE("logic takes everything but 0 as true", "[ops][comparison]") {
  auto place = GENERATE(from_range(places()));
  const Tensor x = tensor_of({3}, {0, 0.5, NAN}, DType::Float32, place);
  CHECK(holds(logical_not(x), {1, 0, 0}));
  CHECK(holds(logical_xor(x, logical_not(x)), {1, 1, 1}));
}

}  // namespace
}  // namespace sb
