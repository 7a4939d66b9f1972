// First and second derivatives against finite differences. The formulas of other families that the
// second ones go through are tested there.

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/composite/shape.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/linalg/distance.h"
#include "switchboard/ops/linalg/einsum.h"
#include "switchboard/ops/linalg/factorizations.h"
#include "switchboard/ops/linalg/products.h"
#include "switchboard/ops/linalg/solve.h"
#include "switchboard/ops/linalg/triangular.h"
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

// Of two inputs; f must stay.
template <class F>
DifferentiableFunction of_both(const F& f) {
  return [&f](const Tensors& in) { return Tensors{f(in[0], in[1])}; };
}

TEST_CASE("addr has the gradients of all its factors, in place, too") {
  const auto f = [](const Tensors& in) { return Tensors{addr(in[0], in[1], in[2], 0.5, -2)}; };
  check_all(f, {signed_leaf({2, 3}), signed_leaf({2}), signed_leaf({3}, 1)});
  check_all(f, {signed_leaf({3}), signed_leaf({2}), signed_leaf({3}, 1)});
  check_all(f, {complex_leaf({2, 3}), complex_leaf({2}), complex_leaf({3}, 1)});
  check_all(
      [](const Tensors& in) {
        const Tensor sum = mul_Scalar(in[0], 3);
        addr_(sum, in[1], in[2]);
        return Tensors{sum};
      },
      {signed_leaf({2, 3}), signed_leaf({2}), signed_leaf({3}, 1)});
}

TEST_CASE("addr of several dtypes has gradients of each") {
  const Tensor self = tensor_of({2, 2}, {1, 2, 3, 4}), vec1 = signed_leaf({2});
  const Tensor vec2 = tensor_of({2}, {5, 6});
  set_requires_grad(vec2);
  const Tensors grads = grad({addr(self, vec1, vec2)}, {vec1, vec2},
                             {tensor_of({2, 2}, {1, 10, 100, 1000}, DType::Float64)});
  CHECK(grads[0].dtype() == DType::Float64);
  CHECK(grads[1].dtype() == DType::Float32);
  CHECK(values_of(grads[0]) == std::vector<double>{65, 6500});
}

TEST_CASE("products of vectors and tensors have gradients") {
  check_all(of_both(vdot), {signed_leaf({3}), signed_leaf({3}, 1)});
  check_all(of_both(vdot), {complex_leaf({3}), complex_leaf({3}, 1)});
  check_all(of_both(outer), {complex_leaf({2}), complex_leaf({3}, 1)});
  check_all(of_both(inner), {signed_leaf({2, 3}), signed_leaf({2, 3}, 1)});
  check_all(of_both(kron), {signed_leaf({2, 2}), signed_leaf({2, 3}, 1)});
  check_all([](const Tensors& in) { return Tensors{tensordot(in[0], in[1], {1}, {0})}; },
            {signed_leaf({2, 3}), signed_leaf({3, 2}, 1)});
  check_all([](const Tensors& in) { return Tensors{linalg_multi_dot(in)}; },
            {signed_leaf({2, 3}), signed_leaf({3, 2}, 1), signed_leaf({2}, 2)});
  check_all([](const Tensors& in) { return Tensors{einsum("bij,bjk,k->bi", in)}; },
            {signed_leaf({2, 2, 3}), signed_leaf({2, 3, 2}, 1), signed_leaf({2}, 2)});
  check_all([](const Tensors& in) { return Tensors{einsum("ii->i", in)}; }, {signed_leaf({3, 3})});
}

TEST_CASE("cross products have gradients, of what was broadcast, too") {
  const auto f = [](const Tensor& a, const Tensor& b) { return linalg_cross(a, b, 0); };
  check_all(of_both(f), {signed_leaf({3, 2}), signed_leaf({3, 1}, 1)});
  check_all(of_both(f), {complex_leaf({3, 2}), complex_leaf({3, 2}, 1)});
}

TEST_CASE("trilinear products have gradients of all three") {
  const auto f = [](const Tensors& in) {
    return Tensors{_trilinear(in[0], in[1], in[2], {1, 3}, {0}, {1, 2}, {2, 3})};
  };
  check_all(f, {signed_leaf({2, 2}), signed_leaf({3, 2, 2}, 1), signed_leaf({2, 2}, 2)});
  check_all(f, {complex_leaf({2, 2}), complex_leaf({2, 2, 2}, 1), complex_leaf({2, 2}, 2)});
  check_all(
      [](const Tensors& in) { return Tensors{bilinear(in[0], in[1], in[2], in[3])}; },
      {signed_leaf({2, 2}), signed_leaf({2, 3}), signed_leaf({2, 2, 3}, 1), signed_leaf({2}, 2)});
}

TEST_CASE("distances have gradients for every p") {
  const double p =
      GENERATE(0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, std::numeric_limits<double>::infinity());
  CAPTURE(p);
  const auto f = [&](const Tensor& a, const Tensor& b) { return cdist(a, b, p); };
  check_all(of_both(f), {signed_leaf({3, 2}), signed_leaf({2, 2}, 1)});
  check_all(of_both(f), {signed_leaf({2, 1, 2, 2}), signed_leaf({2, 1, 2}, 1)});
  check_all([&](const Tensor& t) { return pdist(t, p); }, signed_leaf({4, 2}));
}

TEST_CASE("where rows or elements of them are equal, gradients of distances are finite") {
  const double p = GENERATE(0.5, 1.5, 2.0, 3.0);
  const Tensor rows = tensor_of({3, 2}, {1, 2, 1, 2, 1, 5}, DType::Float64);
  set_requires_grad(rows);
  GradOptions recorded;
  recorded.create_graph = true;
  for (const bool pairs : {false, true}) {
    const Tensor distances = pairs ? pdist(rows, p) : cdist(rows, detach(rows), p);
    const Tensor first = grad({sum_all(distances)}, {rows}, {}, recorded)[0];
    for (const double v : values_of(first)) CHECK(std::isfinite(v));
    const Tensor second = grad({sum_all(first)}, {rows})[0];
    for (const double v : values_of(second)) CHECK(std::isfinite(v));
  }
}

// Positive definite ones, from any.
Tensor positive(const Tensor& a) {
  return add(matmul(a, mH(a)), mul_Scalar(eye(a.size(-1), a.dtype()), 0.5));
}
Tensors both(const std::tuple<Tensor, Tensor>& results) {
  return {std::get<0>(results), std::get<1>(results)};
}
const auto kMatrices = [] {
  return Tensors{signed_leaf({3, 3}), signed_leaf({2, 2, 2}, 1), complex_leaf({2, 2})};
};

TEST_CASE("inverses and determinants have gradients") {
  for (const Tensor& a : kMatrices()) {
    check_all([](const Tensor& t) { return inverse(t); }, a);
    check_all([](const Tensor& t) { return det(t); }, a);
    check_all([](const Tensor& t) { return det(mT(t)); }, a);
    check_all([](const Tensors& in) { return both(slogdet(in[0])); }, {a});
    check_all([](const Tensor& t) { return matrix_power(t, -2); }, a);
  }
}

TEST_CASE("the determinant has a gradient at a singular matrix: the cofactors") {
  const auto cofactors = [](const std::vector<double>& values) {
    const Tensor a = tensor_of({2, 2}, values, DType::Float64);
    set_requires_grad(a);
    return values_of(grad({det(a)}, {a})[0]);
  };
  const auto is = [](const std::vector<double>& expected) {
    return Catch::Matchers::Approx(expected).margin(1e-6);
  };
  CHECK_THAT(cofactors({1, 2, 2, 4}), is({4, -2, -2, 1}));
  CHECK_THAT(cofactors({0, 1, 0, 0}), is({0, 0, -1, 0}));
  CHECK_THAT(cofactors({0, 0, 0, 0}), is({0, 0, 0, 0}));
  // Here the determinant is 0 but for rounding.
  const Tensor a = tensor_of({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, DType::Float64);
  set_requires_grad(a);
  CHECK_THAT(values_of(grad({det(a)}, {a})[0]), is({-3, 6, -3, 6, -12, 6, -3, 6, -3}));
  const Tensor one = tensor_of({1, 1}, {0}, DType::Float64);
  set_requires_grad(one);
  CHECK_THAT(values_of(grad({det(one)}, {one})[0]), is({1}));
}

TEST_CASE("solutions of linear equations have the gradients of both sides") {
  const auto left = [](const Tensor& a, const Tensor& b) { return linalg_solve(a, b); };
  const auto right = [](const Tensor& a, const Tensor& b) { return linalg_solve(a, b, false); };
  check_all(of_both(left), {signed_leaf({3, 3}), signed_leaf({3}, 1)});
  check_all(of_both(left), {signed_leaf({3, 3}), signed_leaf({3, 2}, 1)});
  check_all(of_both(left), {signed_leaf({2, 2, 2}), signed_leaf({2, 2}, 1)});
  check_all(of_both(left), {signed_leaf({2, 2}), signed_leaf({2, 2, 1}, 1)});
  check_all(of_both(left), {complex_leaf({2, 2}), complex_leaf({2, 2}, 1)});
  check_all(of_both(right), {signed_leaf({2, 2, 2}), signed_leaf({3, 2}, 1)});
}

TEST_CASE("LU factors have gradients for matrices of any shape") {
  const auto factors = [](const Tensors& in) {
    return Tensors{std::get<0>(linalg_lu_factor(in[0], /*pivot=*/true))};
  };
  // Needs several exchanges of rows.
  check_all(factors, {signed_leaf({4, 4}, 3)});
  check_all(factors, {signed_leaf({2, 2, 3})});
  check_all(factors, {signed_leaf({2, 4, 2})});
  check_all(factors, {complex_leaf({3, 2})});
}

TEST_CASE("Cholesky factors have gradients, of both triangles") {
  for (const Tensor& a : kMatrices()) {
    check_all([](const Tensor& t) { return linalg_cholesky(positive(t)); }, a);
    check_all([](const Tensor& t) { return cholesky(positive(t), /*upper=*/true); }, a);
  }
}

TEST_CASE("QR factors have gradients, together and apart") {
  for (const Tensor& a : {signed_leaf({3, 3}), signed_leaf({2, 3, 2}), signed_leaf({2, 4}),
                          complex_leaf({3, 2}), complex_leaf({2, 3})}) {
    CAPTURE(a.describe());
    check_all([](const Tensors& in) { return both(linalg_qr(in[0])); }, {a});
    check_all([](const Tensor& t) { return std::get<0>(linalg_qr(t)); }, a);
    check_all([](const Tensor& t) { return std::get<1>(linalg_qr(t)); }, a);
  }
  check_all([](const Tensors& in) { return both(linalg_qr(in[0], "complete")); },
            {signed_leaf({2, 3})});
}

TEST_CASE("what QR has no derivative of is refused") {
  const Tensor a = signed_leaf({3, 2});
  CHECK_THROWS_WITH(backward(sum_all(std::get<1>(linalg_qr(a, "r")))),
                    Catch::Contains("linalg_qr: mode: 'r' has no derivative"));
  CHECK_THROWS_WITH(
      backward(sum_all(std::get<1>(linalg_qr(a, "complete")))),
      Catch::Contains("linalg_qr: mode: 'complete' has no derivative where there are more rows"));
}

TEST_CASE("factors that come with a result have no derivative") {
  CHECK_FALSE(requires_grad(std::get<1>(_linalg_det(signed_leaf({2, 2})))));
  CHECK_FALSE(requires_grad(std::get<2>(_linalg_slogdet(signed_leaf({2, 2})))));
  CHECK_FALSE(requires_grad(std::get<1>(_linalg_solve_ex(signed_leaf({2, 2}), signed_leaf({2})))));
  CHECK(requires_grad(std::get<0>(linalg_lu_factor(signed_leaf({2, 2})))));
}

// Whether each input has a gradient of its shape.
void check_empty(const DifferentiableFunction& f, const std::vector<std::vector<int64_t>>& shapes) {
  Tensors inputs;
  for (const auto& sizes : shapes) inputs.push_back(signed_leaf(sizes));
  Tensors outputs, ones;
  for (const Tensor& t : f(inputs)) {
    if (!requires_grad(t)) continue;
    outputs.push_back(t);
    ones.push_back(ones_like(t));
  }
  const Tensors grads = grad(outputs, inputs, ones);
  for (size_t i = 0; i < inputs.size(); ++i) {
    CHECK(grads[i].sizes() == inputs[i].sizes());
    for (const double v : values_of(grads[i])) CHECK(v == 0);
  }
}

TEST_CASE("matrices without elements have gradients without, and leave zeros to the others") {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{0, 0}, {0, 2, 2}, {2, 0, 0}}) {
    check_empty([](const Tensors& in) { return Tensors{det(in[0])}; }, {sizes});
    check_empty([](const Tensors& in) { return Tensors{std::get<1>(slogdet(in[0]))}; }, {sizes});
    check_empty([](const Tensors& in) { return Tensors{inverse(in[0])}; }, {sizes});
    check_empty([](const Tensors& in) { return Tensors{cholesky(in[0])}; }, {sizes});
    check_empty([](const Tensors& in) { return Tensors{matrix_exp(in[0])}; }, {sizes});
    check_empty([](const Tensors& in) { return Tensors{linalg_solve(in[0], in[1])}; },
                {sizes, sizes});
  }
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{0, 3}, {3, 0}, {0, 3, 2}, {0, 2, 3}}) {
    check_empty([](const Tensors& in) { return both(linalg_qr(in[0])); }, {sizes});
    check_empty([](const Tensors& in) { return both(linalg_lu_factor(in[0])); }, {sizes});
  }
}

TEST_CASE("where there are no pairs or no columns, gradients of distances are zeros") {
  const auto f = [](const Tensor& a, const Tensor& b) { return cdist(a, b, 3); };
  check_empty(of_both(f), {{0, 2}, {3, 2}});
  check_empty(of_both(f), {{3, 2}, {0, 2}});
  check_empty(of_both(f), {{3, 0}, {2, 0}});
  check_empty(of_both(f), {{2, 0, 2}, {1, 3, 2}});
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{0, 2}, {1, 2}, {3, 0}})
    check_empty([](const Tensors& in) { return Tensors{pdist(in[0])}; }, {sizes});
}

TEST_CASE("the matrix exponential has gradients") {
  for (const Tensor& a : kMatrices()) check_all([](const Tensor& t) { return matrix_exp(t); }, a);
}

TEST_CASE("solutions of triangular equations have the gradients of both sides") {
  const bool upper = GENERATE(false, true), left = GENERATE(false, true),
             unit = GENERATE(false, true);
  const auto solve = [&](const Tensors& in) {
    // Far from singular.
    const Tensor a = add(in[0], mul_Scalar(eye(2, DType::Float64), 4));
    return Tensors{linalg_solve_triangular(a, in[1], upper, left, unit)};
  };
  check_all(solve,
            {signed_leaf({2, 2}), left ? signed_leaf({2, 2, 3}, 1) : signed_leaf({2, 3, 2}, 1)});
}

}  // namespace
}  // namespace sb
