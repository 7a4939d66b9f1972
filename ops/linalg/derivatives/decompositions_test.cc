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

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;
using test::values_of;

Tensor leaf(std::vector<int64_t> sizes, int seed = 0) {
  std::vector<double> values;
  const int64_t count = checked_numel(sizes);
  for (int64_t i = 1; i <= count; ++i)
    values.push_back(2 * std::sin(static_cast<double>(i * i) * (1.37 + 0.21 * seed)));
  Tensor t = tensor_of(std::move(sizes), values, DType::Float64);
  set_requires_grad(t);
  return t;
}
Tensor complex_leaf(std::vector<int64_t> sizes, int seed = 0) {
  sizes.push_back(2);
  Tensor t = detach(view_as_complex(leaf(std::move(sizes), seed)));
  set_requires_grad(t);
  return t;
}
void check_twice(const DifferentiableFunction& f, const Tensor& input) {
  CAPTURE(input.describe());
  CHECK_NOTHROW(gradcheck(f, {input}));
  CHECK_NOTHROW(gradgradcheck(f, {input}));
}
Tensor hermitian(const Tensor& a) { return add(a, mH(a)); }
// What does not depend on the phases of complex vectors: the projections that they make.
Tensor projections(const Tensor& columns) {
  const Tensor first = narrow(columns, -1, 0, 1);
  return matmul(first, mH(first));
}

TEST_CASE("singular values have gradients, of matrices of any shape") {
  for (const Tensor& a : {leaf({3, 3}), leaf({2, 4, 2}), leaf({2, 3}), complex_leaf({3, 2})}) {
    check_twice([](const Tensors& in) { return Tensors{linalg_svdvals(in[0])}; }, a);
    check_twice([](const Tensors& in) { return Tensors{std::get<1>(linalg_svd(in[0], false))}; },
                a);
  }
}

TEST_CASE("singular vectors have gradients, together and apart") {
  for (const Tensor& a : {leaf({3, 3}), leaf({2, 4, 2}), leaf({2, 3})}) {
    check_twice(
        [](const Tensors& in) {
          const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/false);
          return Tensors{u, s, vh};
        },
        a);
    check_twice([](const Tensors& in) { return Tensors{std::get<0>(svd(in[0]))}; }, a);
    check_twice([](const Tensors& in) { return Tensors{std::get<2>(svd(in[0]))}; }, a);
  }
  for (const Tensor& a : {complex_leaf({2, 2}), complex_leaf({3, 2}), complex_leaf({2, 3})}) {
    check_twice(
        [](const Tensors& in) {
          const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/false);
          return Tensors{projections(u), s, projections(mH(vh)),
                         matmul(narrow(u, -1, 0, 1), narrow(vh, -2, 0, 1))};
        },
        a);
  }
}

TEST_CASE("of full matrices, the columns that go with singular values have gradients") {
  check_twice(
      [](const Tensors& in) {
        const auto [u, s, vh] = linalg_svd(in[0], /*full_matrices=*/true);
        return Tensors{narrow(u, -1, 0, 2), s, vh};
      },
      leaf({4, 2}));
}

TEST_CASE("eigenvalues and eigenvectors of Hermitian matrices have gradients") {
  for (const char* const triangle : {"L", "U"}) {
    for (const Tensor& a : {leaf({3, 3}), leaf({2, 2, 2}), complex_leaf({3, 3})}) {
      check_twice(
          [&](const Tensors& in) {
            const auto [values, vectors] = linalg_eigh(hermitian(in[0]), triangle);
            return Tensors{values, projections(vectors)};
          },
          a);
      check_twice(
          [&](const Tensors& in) { return Tensors{linalg_eigvalsh(hermitian(in[0]), triangle)}; },
          a);
    }
  }
  check_twice([](const Tensors& in) { return Tensors{std::get<1>(linalg_eigh(hermitian(in[0])))}; },
              leaf({3, 3}));
}

TEST_CASE("eigenvalues and eigenvectors of any matrix have gradients, real for real matrices") {
  for (const Tensor& a : {leaf({3, 3}), leaf({2, 2, 2}), complex_leaf({3, 3})}) {
    check_twice(
        [](const Tensors& in) {
          const auto [values, vectors] = linalg_eig(in[0]);
          return Tensors{values, projections(vectors)};
        },
        a);
    check_twice([](const Tensors& in) { return Tensors{linalg_eigvals(in[0])}; }, a);
  }
}

TEST_CASE("the pseudoinverse has gradients where the rank does not change") {
  for (const Tensor& a : {leaf({3, 3}), leaf({2, 4, 2}), leaf({2, 3}), complex_leaf({3, 2})}) {
    check_twice([](const Tensors& in) { return Tensors{linalg_pinv(in[0], 1e-12)}; }, a);
  }
  check_twice(
      [](const Tensors& in) {
        return Tensors{linalg_pinv(matmul(in[0], mT(in[0])), 1e-8, /*hermitian=*/true)};
      },
      leaf({3, 2}));
}

TEST_CASE("least squares have the gradients of both sides, and residuals too") {
  for (const auto& [a, b] :
       {std::pair(leaf({4, 2}), leaf({4, 3}, 1)), std::pair(leaf({2, 4, 2}), leaf({2, 4}, 1)),
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
  CHECK_THROWS_WITH(backward(sum_all(std::get<1>(_linalg_svd(leaf({2, 2}), false, false)))),
                    Catch::Contains("_linalg_svd: compute_uv: expected true where a gradient"));
  CHECK_THROWS_WITH(backward(sum_all(std::get<0>(_linalg_eigh(leaf({2, 2}), "L", false)))),
                    Catch::Contains("_linalg_eigh: compute_v: expected true where a gradient"));
}

}  // namespace
}  // namespace sb
