#include "switchboard/ops/linalg/matrix_norm.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/linalg/condition.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;
using test::values_of;

double number(const Tensor& x) { return item(x).to<double>(); }

TEST_CASE("norms that are made of singular values refuse infinite matrices, as these do") {
  const Tensor x = tensor_of({2, 2}, {INFINITY, 1, 1, 1});
  CHECK_THROWS_WITH(nuclear_norm(x), Catch::Contains("linalg.svd: the algorithm failed"));
  CHECK(number(nuclear_norm(tensor_of({2, 2}, {3, 0, 0, 4}))) == Approx(7));
  CHECK(number(linalg_matrix_norm(tensor_of({2, 2}, {3, 0, 0, 4}), -2)) == Approx(3));
}

TEST_CASE("condition numbers of every order are norms of a matrix times those of its inverse") {
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4}), inverse = linalg_inv(x);
  for (const double p : std::vector<double>{1, -1, INFINITY, -INFINITY})
    CHECK(number(linalg_cond(x, p)) ==
          Approx(number(linalg_matrix_norm(x, p)) * number(linalg_matrix_norm(inverse, p))));
  for (const char* const p : {"fro", "nuc"})
    CHECK(number(linalg_cond_str(x, p)) == Approx(number(linalg_matrix_norm_str(x, p)) *
                                                  number(linalg_matrix_norm_str(inverse, p))));
  CHECK(number(linalg_cond(x)) ==
        Approx(number(linalg_matrix_norm(x, 2)) * number(linalg_matrix_norm(inverse, 2))));
  CHECK(number(linalg_cond(x, -2)) == Approx(1 / number(linalg_cond(x, 2))));
  // Only the ratio of singular values is for matrices that have no inverse.
  const Tensor singular = tensor_of({2, 2}, {1, 0, 0, 0}), wide = tensor_of({1, 2}, {3, 4});
  CHECK(std::isinf(number(linalg_cond(singular))));
  CHECK(std::isinf(number(linalg_cond(singular, 1))));
  CHECK(std::isinf(number(linalg_cond_str(singular, "nuc"))));
  CHECK(number(linalg_cond(wide)) == 1);
  CHECK(values_of(linalg_cond(tensor_of({2, 0, 0}, {}), 1)) == std::vector<double>{0, 0});
}

TEST_CASE("orders that no condition number has are refused") {
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4}), wide = tensor_of({1, 2}, {3, 4});
  CHECK_THROWS_WITH(linalg_cond(x, 3), Catch::Contains("linalg_cond: p: expected 1, 2 or inf"));
  CHECK_THROWS_AS(linalg_cond(x, 3), ValueError);
  CHECK_THROWS_WITH(linalg_cond_str(x, "x"), Catch::Contains("expected 'fro' or 'nuc', got 'x'"));
  CHECK_THROWS_WITH(linalg_cond(wide, 1),
                    Catch::Contains("linalg_cond: expected square matrices where p is 1"));
  CHECK_THROWS_WITH(linalg_cond(tensor_of({2}, {1, 2})),
                    Catch::Contains("linalg_cond: expected at least 2 dimensions"));
}

}  // namespace
}  // namespace sb
