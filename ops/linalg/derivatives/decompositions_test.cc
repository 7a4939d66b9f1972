// First and second derivatives of singular values, eigenvalues and what is made of them, against
// finite differences.

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/eigenvalues.h"
#include "switchboard/ops/linalg/least_squares.h"
#include "switchboard/ops/linalg/pseudo_inverse.h"
#include "switchboard/ops/linalg/singular_values.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check_all;
using test::complex_leaf;
using test::signed_leaf;
using test::tensor_of;
using test::Tensors;
using test::values_of;

Tensor hermitian(const Tensor& a) { return add(a, mH(a)); }
// What does not depend on the phases of complex vectors: the projections that they make.
Tensor projections(const Tensor& columns) {
  const Tensor first = narrow(columns, -1, 0, 1);
  return matmul(first, mH(first));
}

TEST_CASE("singular values have gradients, of matrices of any shape") {
  for (const Tensor& a :
       {signed_leaf({3, 3}), signed_leaf({2, 4, 2}), signed_leaf({2, 3}), complex_leaf({3, 2})}) {
    check_all([](const Tensors& in) { return Tensors{linalg_svdvals(in[0])}; }, a);
    check_all([](const Tensors& in) { return Tensors{std::get<1>(linalg_svd(in[0], false))}; }, a);
  }
}

TEST_CASE("singular vectors have gradients, together and apart") {
  for (const Tensor& a : {signed_leaf({3, 3}), signed_leaf({2, 4, 2}), signed_leaf({2, 3})}) {
    check_all(
        [](const Tensors& in) {
          const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/false);
          return Tensors{u, s, vh};
        },
        a);
    check_all([](const Tensors& in) { return Tensors{std::get<0>(svd(in[0]))}; }, a);
    check_all([](const Tensors& in) { return Tensors{std::get<2>(svd(in[0]))}; }, a);
  }
  for (const Tensor& a : {complex_leaf({2, 2}), complex_leaf({3, 2}), complex_leaf({2, 3})}) {
    check_all(
        [](const Tensors& in) {
          const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/false);
          return Tensors{projections(u), s, projections(mH(vh)),
                         matmul(narrow(u, -1, 0, 1), narrow(vh, -2, 0, 1))};
        },
        a);
  }
}

TEST_CASE("of full matrices, the columns that go with singular values have gradients") {
  check_all(
      [](const Tensors& in) {
        const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/true);
        return Tensors{narrow(u, -1, 0, 2), s, vh};
      },
      signed_leaf({4, 2}));
}

TEST_CASE("eigenvalues and eigenvectors of Hermitian matrices have gradients") {
  for (const char* const triangle : {"L", "U"}) {
    for (const Tensor& a : {signed_leaf({3, 3}), signed_leaf({2, 2, 2}), complex_leaf({3, 3})}) {
      check_all(
          [&](const Tensors& in) {
            const auto [values, vectors] = linalg_eigh(hermitian(in[0]), triangle);
            return Tensors{values, projections(vectors)};
          },
          a);
      check_all(
          [&](const Tensors& in) { return Tensors{linalg_eigvalsh(hermitian(in[0]), triangle)}; },
          a);
    }
  }
  check_all([](const Tensors& in) { return Tensors{std::get<1>(linalg_eigh(hermitian(in[0])))}; },
            signed_leaf({3, 3}));
}

TEST_CASE("eigenvalues and eigenvectors of any matrix have gradients, real for real matrices") {
  for (const Tensor& a : {signed_leaf({3, 3}), signed_leaf({2, 2, 2}), complex_leaf({3, 3})}) {
    check_all(
        [](const Tensors& in) {
          const auto [values, vectors] = linalg_eig(in[0]);
          return Tensors{values, projections(vectors)};
        },
        a);
    check_all([](const Tensors& in) { return Tensors{linalg_eigvals(in[0])}; }, a);
  }
}

TEST_CASE("the pseudoinverse has gradients where the rank does not change") {
  for (const Tensor& a :
       {signed_leaf({3, 3}), signed_leaf({2, 4, 2}), signed_leaf({2, 3}), complex_leaf({3, 2})}) {
    check_all([](const Tensors& in) { return Tensors{linalg_pinv(in[0], 1e-12)}; }, a);
  }
  check_all(
      [](const Tensors& in) {
        return Tensors{linalg_pinv(matmul(in[0], mT(in[0])), 1e-8, /*hermitian=*/true)};
      },
      signed_leaf({3, 2}));
}

TEST_CASE("least squares have the gradients of both sides, and residuals too") {
  for (const auto& [a, b] : {std::pair(signed_leaf({4, 2}), signed_leaf({4, 3}, 1)),
                             std::pair(signed_leaf({2, 4, 2}), signed_leaf({2, 4}, 1)),
                             std::pair(complex_leaf({3, 2}), complex_leaf({3, 1}, 1))}) {
    CAPTURE(a.describe());
    const auto f = [](const Tensors& in) {
      const auto [x, residuals, rank, values] = linalg_lstsq(in[0], in[1], std::nullopt, "gelsd");
      return Tensors{x, residuals};
    };
    CHECK_NOTHROW(gradcheck(f, {a, b}));
    CHECK_NOTHROW(gradgradcheck(f, {a, b}));
  }
}

TEST_CASE("vectors that were not computed are missed by a gradient, which says so") {
  CHECK_THROWS_WITH(backward(sum_all(std::get<1>(_linalg_svd(signed_leaf({2, 2}), false, false)))),
                    Catch::Contains("_linalg_svd: compute_uv: expected true where a gradient"));
  CHECK_THROWS_WITH(backward(sum_all(std::get<0>(_linalg_eigh(signed_leaf({2, 2}), "L", false)))),
                    Catch::Contains("_linalg_eigh: compute_v: expected true where a gradient"));
}

}  // namespace
}  // namespace sb
