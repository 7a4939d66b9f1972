#include "switchboard/ops/linalg/solve.h"

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/linalg/triangular.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::sizes_of;
using test::tensor_of;
using test::values_of;

// Three matrices of which none needs the same exchange of rows.
Tensor matrices() {
  return tensor_of({3, 3, 3}, {0, 2, 1, 4, 1, 0, 1, 1, 3,   //
                               5, 1, 2, 0, 0, 4, 2, 3, 1,   //
                               1, 2, 0, 3, 1, 5, 7, 2, 2},  //
                   DType::Float64);
}
void check_close(const Tensor& x, const Tensor& y) {
  REQUIRE(sizes_of(x) == sizes_of(y));
  const std::vector<double> a = values_of(x), b = values_of(y);
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-12));
}

TEST_CASE("the solution fulfils its equations, from both sides and for all strides") {
  const Tensor b = tensor_of({2, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 1, 0, 3, 3, 1, 4, 1, 5},
                             DType::Float64);
  const Tensor expected = expand(b, {2, 3, 3, 3});
  for (const Tensor& a : {matrices(), transpose(matrices(), 1, 2)}) {
    check_close(matmul(a, linalg_solve(a, b)), expected);
    check_close(matmul(linalg_solve(a, b, /*left=*/false), a), expected);
    check_close(linalg_solve(a, transpose(b, 2, 3)),
                linalg_solve(a, contiguous(transpose(b, 2, 3))));
  }
}

TEST_CASE("one vector goes to all matrices, and vectors to one each") {
  const Tensor a = matrices();
  const Tensor vector = tensor_of({3}, {1, 2, 3}, DType::Float64);
  const Tensor vectors = tensor_of({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, DType::Float64);
  check_close(squeeze_dim(matmul(a, unsqueeze(linalg_solve(a, vector), -1)), -1),
              expand(vector, {3, 3}));
  check_close(squeeze_dim(matmul(a, unsqueeze(linalg_solve(a, vectors), -1)), -1), vectors);
}

TEST_CASE("a singular matrix is an error, or a number in info") {
  const Tensor a = tensor_of({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
  const Tensor b = tensor_of({2, 1}, {1, 1});
  CHECK_THROWS_AS(linalg_solve(a, b), RuntimeError);
  CHECK_THROWS_AS(linalg_solve_ex(a, b, true, true), RuntimeError);
  CHECK(values_of(std::get<1>(linalg_solve_ex(a, b))) == std::vector<double>{0, 2});
}

TEST_CASE("shapes and dtypes that do not fit are refused, with and without data") {
  for (const Device place : test::places()) {
    const auto of = [&](std::vector<int64_t> sizes, DType dtype = DType::Float32) {
      int64_t numel = 1;
      for (const int64_t size : sizes) numel *= size;
      return tensor_of(sizes, std::vector<double>(static_cast<size_t>(numel), 1.0), dtype, place);
    };
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 3}), of({2, 1})), RuntimeError);
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 2}), of({3, 1})), RuntimeError);
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 2}), of({2, 1}, DType::Float64)), RuntimeError);
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 2}), of({2}), /*left=*/false), RuntimeError);
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 2, 2}), of({3, 2, 1})), RuntimeError);
    CHECK_THROWS_AS(_linalg_solve_ex(of({2, 2}, DType::Int64), of({2, 1}, DType::Int64)),
                    RuntimeError);
  }
}

TEST_CASE("a determinant that is NaN has the sign 0") {
  const Tensor nan = tensor_of({2, 2}, {NAN, NAN, NAN, NAN});
  CHECK(values_of(std::get<0>(slogdet(nan)))[0] == 0);
  CHECK(std::isnan(values_of(std::get<1>(slogdet(nan)))[0]));
  CHECK(values_of(std::get<0>(slogdet(tensor_of({1, 1}, {-INFINITY}))))[0] == -1);
}

TEST_CASE("the exponential of a matrix of one number has the strides of a new tensor") {
  const Tensor x = as_strided(tensor_of({1}, {0}), {1, 1}, {0, 0});
  CHECK(test::strides_of(linalg_matrix_exp(x)) == test::Sizes{1, 1});
  CHECK(values_of(linalg_matrix_exp(x))[0] == 1);
}

TEST_CASE("triangular systems are solved from both sides, and read their triangle alone") {
  const Tensor a = matrices() + 2 * eye(3, DType::Float64);
  const Tensor b = tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}, DType::Float64);
  const Tensor expected = expand(b, {3, 3, 2});
  for (const bool upper : {false, true}) {
    const Tensor triangle = upper ? triu(a) : tril(a);
    check_close(matmul(triangle, linalg_solve_triangular(a, b, upper)), expected);
    const Tensor right = linalg_solve_triangular(a, transpose(b, 0, 1), upper, /*left=*/false);
    check_close(matmul(right, triangle), transpose(expected, 1, 2));
    const Tensor unit = (upper ? triu(a, 1) : tril(a, -1)) + eye(3, DType::Float64);
    check_close(matmul(unit, linalg_solve_triangular(a, b, upper, true, true)), expected);
  }
  CHECK(linalg_solve_triangular(a, b, true).strides() == IntArrayRef{6, 1, 3});
  CHECK_THROWS_AS(linalg_solve_triangular(a, transpose(b, 0, 1), true), RuntimeError);
  CHECK_THROWS_AS(linalg_solve_triangular(b, b, true), RuntimeError);
}

TEST_CASE("triangles and systems of many blocks are solved, of every dtype") {
  for (const DType dtype : {DType::Float64, DType::Complex128}) {
    for (const int64_t n : {15, 16, 17, 50}) {
      std::vector<double> values, sides;
      for (int64_t i = 1; i <= n * n; ++i) values.push_back(std::sin(static_cast<double>(i * i)));
      for (int64_t i = 1; i <= n * 11; ++i) sides.push_back(std::cos(static_cast<double>(i * i)));
      const Tensor a =
          to_dtype(tensor_of({n, n}, values, DType::Float64) + eye(n, DType::Float64) * n, dtype);
      const Tensor b = to_dtype(tensor_of({n, 11}, sides, DType::Float64), dtype);
      const auto check = [&](const Tensor& product) { check_close(real(product), real(b)); };
      for (const bool upper : {false, true}) {
        const Tensor triangle = upper ? triu(a) : tril(a);
        check(matmul(triangle, linalg_solve_triangular(a, b, upper)));
        check(matmul(transpose(triangle, 0, 1),
                     linalg_solve_triangular(transpose(a, 0, 1), b, !upper)));
      }
      check(matmul(a, linalg_solve(a, b)));
      check(matmul(transpose(a, 0, 1), linalg_solve(transpose(a, 0, 1), b)));
      check(matmul(a, matmul(linalg_inv(a), b)));
    }
  }
}

TEST_CASE("Cholesky's factors solve and invert what they are factors of") {
  const Tensor a = matrices();
  const Tensor positive = matmul(a, transpose(a, 1, 2)) + eye(3, DType::Float64);
  const Tensor b = tensor_of({3, 1}, {1, 2, 3}, DType::Float64);
  for (const bool upper : {false, true}) {
    const Tensor factor = linalg_cholesky(positive, upper);
    check_close(matmul(positive, cholesky_solve(b, factor, upper)), expand(b, {3, 3, 1}));
    check_close(matmul(positive, cholesky_inverse(factor, upper)),
                expand(eye(3, DType::Float64), {3, 3, 3}));
  }
}

TEST_CASE("bytes are multiplied in int32") {
  const Tensor a = tensor_of({1, 3}, {100, 100, -100}, DType::Int8);
  const Tensor b = tensor_of({3, 1}, {100, 100, 1}, DType::Int8);
  CHECK(_int_mm(a, b).dtype() == DType::Int32);
  CHECK(values_of(_int_mm(a, b)) == std::vector<double>{19900});
  CHECK_THROWS_AS(_int_mm(a, a), RuntimeError);
  CHECK_THROWS_AS(_int_mm(to_dtype(a, DType::Int32), b), RuntimeError);
}

}  // namespace
}  // namespace sb
