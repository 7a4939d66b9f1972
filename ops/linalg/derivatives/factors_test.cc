// First and second derivatives of what is done with the factors of LU and of reflections, against
// finite differences.

#include "catch2/catch.hpp"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/householder.h"
#include "switchboard/ops/linalg/lu.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check;
using test::complex_leaf;
using test::signed_leaf;
using test::Tensors;

TEST_CASE("solving by factors is derived by the matrix and by the right side") {
  for (const bool left : {true, false}) {
    for (const bool adjoint : {true, false}) {
      check(
          [&](const Tensors& in) {
            const auto [lu, pivots] = linalg_lu_factor(in[0]);
            return linalg_lu_solve(lu, pivots, in[1], left, adjoint);
          },
          {complex_leaf({2, 2}), complex_leaf({2, 2})});
    }
  }
}

TEST_CASE("unpacked factors are derived for tall and for wide matrices") {
  for (const auto& sizes : {std::vector<int64_t>{3, 2}, std::vector<int64_t>{2, 3}}) {
    check(
        [](const Tensors& in) {
          const auto [p, l, u] = linalg_lu(in[0]);
          return matmul(l, matmul(u, transpose(u, -2, -1)));
        },
        {signed_leaf(sizes)});
  }
}

TEST_CASE("the permutation of a factorization is a constant") {
  const auto [p, l, u] = linalg_lu(signed_leaf({2, 3}));
  CHECK_FALSE(requires_grad(p));
  CHECK(requires_grad(l));
  CHECK(requires_grad(u));
}

TEST_CASE(
    "products of reflections are derived by the reflections and by what they are applied to") {
  check([](const Tensors& in) { return linalg_householder_product(in[0], in[1]); },
        {complex_leaf({3, 2}), complex_leaf({2})});
  for (const bool left : {true, false}) {
    for (const bool transposed : {true, false}) {
      check([&](const Tensors& in) { return ormqr(in[0], in[1], in[2], left, transposed); },
            {signed_leaf({2, 2}), signed_leaf({2}), signed_leaf({2, 2})});
    }
  }
}

}  // namespace
}  // namespace sb
