#include "switchboard/core/checked_math.h"

#include "catch2/catch.hpp"

namespace sb {
namespace {

constexpr int64_t kBig = int64_t{1} << 62;

TEST_CASE("products and sums that int64 cannot hold are errors", "[core][overflow]") {
  CHECK(checked_mul(3, -4) == -12);
  CHECK_THROWS_AS(checked_mul(kBig, 2), RuntimeError);
  CHECK(checked_add(INT64_MAX, 0) == INT64_MAX);
  CHECK_THROWS_AS(checked_add(INT64_MAX, 1), RuntimeError);
  CHECK_THROWS_AS(checked_add(INT64_MIN, -1), RuntimeError);
}

TEST_CASE("a shape's number of elements is the product of its sizes", "[core][overflow]") {
  CHECK(checked_numel({}) == 1);
  CHECK(checked_numel({2, 3, 4}) == 24);
  CHECK(checked_numel({2, 0, 4}) == 0);
  CHECK_THROWS_AS(checked_numel({2, -1}), RuntimeError);
  CHECK_THROWS_AS(checked_numel({0, -1}), RuntimeError);
  CHECK_THROWS_AS(checked_numel({kBig, 2}), RuntimeError);
}

TEST_CASE("a view needs the bytes up to its last element", "[core][overflow]") {
  CHECK(checked_storage_bytes({}, {}, 0, 4) == 4);
  CHECK(checked_storage_bytes({2, 3}, {3, 1}, 0, 4) == 24);
  CHECK(checked_storage_bytes({2, 3}, {1, 2}, 5, 8) == 88);
  CHECK(checked_storage_bytes({1000, 2}, {0, 1}, 0, 1) == 2);
  CHECK(checked_storage_bytes({0, 7}, {100, 100}, 100, 8) == 0);
}

TEST_CASE("a view that cannot be is an error", "[core][overflow]") {
  CHECK_THROWS_AS(checked_storage_bytes({2}, {1, 1}, 0, 4), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({-2}, {1}, 0, 4), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({2}, {-1}, 0, 4), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({2}, {1}, -1, 4), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({2}, {INT64_MAX}, 0, 4), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({3}, {kBig}, 0, 1), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({}, {}, INT64_MAX, 1), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({1}, {kBig}, 0, 1), RuntimeError);
  CHECK_THROWS_AS(checked_storage_bytes({0}, {1}, kBig, 8), RuntimeError);
}

}  // namespace
}  // namespace sb
