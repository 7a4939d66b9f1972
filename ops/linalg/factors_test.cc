#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/householder.h"
#include "switchboard/ops/linalg/lapack/lapack.h"
#include "switchboard/ops/linalg/ldl.h"
#include "switchboard/ops/linalg/lu.h"
#include "switchboard/ops/linalg/tensor_solve.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::sizes_of;
using test::tensor_of;
using test::values_of;

// Two matrices whose rows LU exchanges.
Tensor matrices() {
  return tensor_of({2, 3, 3}, {0, 2, 1, 4, 1, 0, 1, 1, 3, 5, 1, 2, 0, 0, 4, 2, 3, 1},
                   DType::Float64);
}
void check_close(const Tensor& a, const Tensor& b) {
  REQUIRE(sizes_of(a) == sizes_of(b));
  const std::vector<double> x = values_of(a), y = values_of(b);
  for (size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).margin(1e-12));
}

TEST_CASE("the factors of LU, unpacked, are those of the matrix") {
  const Tensor a = matrices();
  const auto [p, l, u] = linalg_lu(a);
  check_close(matmul(p, matmul(l, u)), a);
  const Tensor wide = narrow(a, -2, 0, 2);
  const auto [q, m, v] = linalg_lu(wide);
  check_close(matmul(q, matmul(m, v)), wide);
}

TEST_CASE("lu_solve solves from the left and the right, and with the adjoint matrix") {
  const Tensor a = matrices(), b = tensor_of({3, 2}, {1, 2, 3, 4, 5, 6}, DType::Float64);
  const auto [lu, pivots] = linalg_lu_factor(a);
  check_close(matmul(a, linalg_lu_solve(lu, pivots, b)), expand(b, {2, 3, 2}));
  check_close(matmul(mH(a), linalg_lu_solve(lu, pivots, b, true, true)), expand(b, {2, 3, 2}));
  const Tensor row = transpose(b, 0, 1);
  check_close(matmul(linalg_lu_solve(lu, pivots, row, false), a), expand(row, {2, 2, 3}));
  CHECK_THROWS_AS(linalg_lu_solve(lu, mul_Scalar(pivots, 9), b), RuntimeError);
}

TEST_CASE("reflections make the Q of QR, as a matrix and as what is applied") {
  const Tensor a = narrow(matrices(), -1, 0, 2);
  const auto [factors, tau] = geqrf(a);
  const Tensor q = linalg_householder_product(factors, tau);
  check_close(matmul(mH(q), q), tensor_of({2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1}, DType::Float64));
  const Tensor c = matrices();
  const Tensor there = ormqr(factors, tau, c), back = ormqr(factors, tau, there, true, true);
  check_close(back, c);
  check_close(narrow(ormqr(factors, tau, c, /*left=*/false), -1, 0, 2), matmul(c, q));
}

TEST_CASE("a symmetric matrix that is not definite is solved by LDL where there is a LAPACK") {
  const Tensor a = matrices(), symmetric = a + mH(a);
  if (!lapack::is_available()) {
    CHECK_THROWS_AS(linalg_ldl_factor(symmetric), RuntimeError);
    return;
  }
  const auto [ld, pivots] = linalg_ldl_factor(symmetric);
  const Tensor b = tensor_of({3, 1}, {1, 2, 3}, DType::Float64);
  check_close(matmul(symmetric, linalg_ldl_solve(ld, pivots, b)), expand(b, {2, 3, 1}));
}

TEST_CASE("polar factors and the root of a positive matrix multiply to it") {
  const Tensor a = matrices();
  const auto [u, h] = linalg_polar(a);
  check_close(matmul(u, h), a);
  const Tensor square = matmul(mH(a), a);
  const Tensor root = linalg_matrix_sqrth(square);
  check_close(matmul(root, root), square);
}

TEST_CASE("tensors are inverted and solved as the matrices that they are in another shape") {
  const Tensor a = reshape(narrow(matrices(), 0, 0, 1), {3, 3, 1});
  check_close(reshape(linalg_tensorinv(a, 1), {3, 3}), linalg_inv(reshape(a, {3, 3})));
  const Tensor b = tensor_of({3}, {1, 2, 3}, DType::Float64);
  check_close(matmul(reshape(a, {3, 3}), reshape(linalg_tensorsolve(a, b), {3})), b);
  CHECK(values_of(linalg_vander(b, SymInt(3))) == std::vector<double>{1, 1, 1, 1, 2, 4, 1, 3, 9});
}

TEST_CASE("16-bit matrices have no kernel, integral ones only where a kernel would look") {
  const Tensor half = to_dtype(matrices(), DType::Float16), whole = to_dtype(half, DType::Int64);
  CHECK_THROWS_AS(linalg_inv(half), NotImplementedError);
  CHECK_THROWS_AS(linalg_lu_factor(whole), NotImplementedError);
  CHECK_THROWS_WITH(linalg_qr(whole), Catch::Contains("expected float32, float64 or complex"));
}

}  // namespace
}  // namespace sb
