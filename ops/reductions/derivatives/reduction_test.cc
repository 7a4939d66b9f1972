// Derivatives of reductions, of copies and of fresh tensors.

#include <cmath>
#include <limits>
#include <tuple>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check;
using test::leaf;
using test::leaf_of;
using test::tensor_of;
using test::Tensors;
using test::values_of;
using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("sums, means and products have derivatives over all dimensions and over some") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const Tensors in = {leaf({2, 3, 2}, 1, dtype)};
  const bool keepdim = GENERATE(false, true);
  check([](const Tensors& x) { return sum(x[0]); }, in);
  check([](const Tensors& x) { return mean(x[0]); }, in);
  check([](const Tensors& x) { return prod(x[0]); }, in);
  check([&](const Tensors& x) { return sum_dim(x[0], {0, -1}, keepdim); }, in);
  check([&](const Tensors& x) { return mean_dim(x[0], {-1, 0}, keepdim); }, in);
  check([&](const Tensors& x) { return prod_dim(x[0], -2, keepdim); }, in);
  check([&](const Tensors& x) { return sum_dim(x[0], IntArrayRef(), keepdim); }, in);
}

TEST_CASE("reductions of a number and of no elements have derivatives") {
  check([](const Tensors& x) { return prod(x[0]); }, {leaf({})});
  check([](const Tensors& x) { return prod_dim(x[0], 0, true); }, {leaf({})});
  check([](const Tensors& x) { return mean_dim(x[0], {0}, false); }, {leaf({})});
  check([](const Tensors& x) { return prod_dim(x[0], 1, false); }, {leaf({2, 1})});
  check([](const Tensors& x) { return prod_dim(x[0], 1, false); }, {leaf({2, 0})});
}

TEST_CASE("a product has its derivatives where factors are 0, one or several") {
  for (const Values& values : {Values{2, 0, 3}, Values{0, 0, 3}, Values{0, 0, 0}}) {
    const Tensor x = leaf_of({3}, values);
    check([](const Tensors& in) { return prod(in[0]); }, {x});
    check([](const Tensors& in) { return prod_dim(in[0], 0, true); }, {x});
  }
}

TEST_CASE("the largest and smallest elements have derivatives") {
  const Tensors in = {leaf({2, 3, 2})};
  const bool keepdim = GENERATE(false, true);
  check([&](const Tensors& x) { return amax(x[0], {0, -1}, keepdim); }, in);
  check([&](const Tensors& x) { return amin(x[0], IntArrayRef(), keepdim); }, in);
  check([](const Tensors& x) { return max_all(x[0]); }, in);
  check([](const Tensors& x) { return min_all(x[0]); }, in);
  check([&](const Tensors& x) { return std::get<0>(max_dim(x[0], 1, keepdim)); }, in);
  check([&](const Tensors& x) { return std::get<0>(min_dim(x[0], 0, keepdim)); }, in);
  check([&](const Tensors& x) { return std::get<0>(min_dim(x[0], 0, keepdim)); }, {leaf({})});
}

TEST_CASE("equal largest elements share the gradient; the index has it for the first alone") {
  const Tensor x = leaf_of({3}, {2, 1, 2});
  CHECK(values_of(grad({amax(x)}, {x})[0]) == Values{0.5, 0, 0.5});
  CHECK(values_of(grad({max_all(x)}, {x})[0]) == Values{0.5, 0, 0.5});
  CHECK(values_of(grad({std::get<0>(max_dim(x, 0))}, {x})[0]) == Values{1, 0, 0});
}

TEST_CASE("NaNs share the gradient of max, and have one of NaN through amax") {
  const Tensor x = leaf_of({3}, {1, kNaN, kNaN});
  CHECK(values_of(grad({max_all(x)}, {x})[0]) == Values{0, 0.5, 0.5});
  for (double g : values_of(grad({amax(x)}, {x})[0])) CHECK(std::isnan(g));
}

TEST_CASE("an infinite gradient of max leaves the other elements at 0") {
  const Tensor x = leaf_of({3}, {1, 3, 2});
  const Tensor endless = tensor_of({}, {std::numeric_limits<double>::infinity()}, DType::Float64);
  for (const Tensor& y : {max_all(x), neg(min_all(neg(x)))})
    for (double g : values_of(grad({y}, {x}, {endless})[0])) CHECK_FALSE(std::isnan(g));
}

TEST_CASE("the gradient of a sum in another dtype is of the input's") {
  const Tensor x = leaf({3}, 1, DType::Float32);
  backward(sum_all(x, DType::Float64));
  CHECK(grad_of(x).dtype() == DType::Float32);
  backward({to_dtype(x, DType::Complex128)}, {ones({3}, DType::Complex128)});
  CHECK(values_of(grad_of(x)) == Values{2, 2, 2});
}

TEST_CASE("indices, truth values and fresh tensors need no gradient") {
  const Tensor x = leaf({2, 3});
  CHECK_FALSE(requires_grad(argmax(x)));
  CHECK_FALSE(requires_grad(any(x)));
  CHECK_FALSE(requires_grad(std::get<1>(max_dim(x, 0))));
  CHECK_FALSE(requires_grad(zeros_like(x)));
  CHECK_FALSE(requires_grad(new_full(x, {2}, 1)));
}

TEST_CASE("what is copied has the gradient, and what was there before one of zeros") {
  check([](const Tensors& in) { return copy_(clone(in[0]), in[1]); }, {leaf({2, 3}), leaf({3}, 2)});
  check([](const Tensors& in) { return fill__Tensor(clone(in[0]), in[1]); },
        {leaf({2, 3}), leaf({}, 2)});
  check([](const Tensors& in) { return fill_Tensor(in[0], in[1]); }, {leaf({2, 3}), leaf({}, 2)});
  const Tensor x = leaf({2});
  for (const Tensor& y : {zero(x), zero_(clone(x)), fill(x, 3), fill_(clone(x), 3)})
    CHECK(values_of(grad({sum(y)}, {x})[0]) == Values{0, 0});
}

TEST_CASE("a copy that writes nothing has the gradients of one that does") {
  const Tensor self = tensor_of({2, 3}, Values(6, 1), DType::Float64), other = leaf({2, 3});
  check([&](const Tensors& in) { return copy(self, in[0]); }, {leaf({3}, 2)});
  const Tensor src = leaf({3}, 2);
  backward(sum(copy(other, src)));
  CHECK(values_of(grad_of(src)) == Values{2, 2, 2});
  CHECK(values_of(grad_of(other)) == Values(6, 0));
}

TEST_CASE("what is scattered to a view has its part of the gradient") {
  check([](const Tensors& in) { return slice_scatter(in[0], in[1], 1, 0, 3, 2); },
        {leaf({2, 4}), leaf({2, 2}, 2)});
  check([](const Tensors& in) { return select_scatter(in[0], in[1], 1, -1); },
        {leaf({2, 4}), leaf({2}, 2)});
  check(
      [](const Tensors& in) {
        return as_strided_scatter(t(in[0]), in[1], {2, 2}, {1, 3}, 1);
      },
      {leaf({2, 4}), leaf({2, 2}, 2)});
}

}  // namespace
}  // namespace sb
