// Derivatives of arithmetic, of functions of one tensor, of comparisons and of matrix products.

#include <complex>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check;
using test::leaf;
using test::leaf_of;
using test::Tensors;
using test::values_of;
using Values = std::vector<double>;

#define SB_UNARY(expression)        \
  [](const Tensors& in) -> Tensor { \
    const Tensor& x = in[0];        \
    return expression;              \
  }
#define SB_BINARY(expression)                             \
  [](const Tensors& in) -> Tensor {                       \
    [[maybe_unused]] const Tensor &x = in[0], &y = in[1]; \
    return expression;                                    \
  }
#define SB_TERNARY(expression)                       \
  [](const Tensors& in) -> Tensor {                  \
    const Tensor &x = in[0], &y = in[1], &z = in[2]; \
    return expression;                               \
  }

TEST_CASE("arithmetic has derivatives, which sum over what was broadcast") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const auto with = [&](const auto& f) {
    check(f, {leaf({2, 3}, 1, dtype), leaf({3}, 2, dtype)});
    check(f, {leaf({2, 1}, 1, dtype), leaf({}, 2, dtype)});
  };
  with(SB_BINARY(add(x, y, 2.5)));
  with(SB_BINARY(sub(x, y, 2.5)));
  with(SB_BINARY(rsub(x, y, 2.5)));
  with(SB_BINARY(mul(x, y)));
  with(SB_BINARY(div(x, y)));
  check(SB_UNARY(neg(x)), {leaf({3}, 1, dtype)});
  check(SB_UNARY(abs(x)), {leaf({3}, 1, dtype)});
}

TEST_CASE("arithmetic with numbers has derivatives, complex ones by the conjugate") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const Tensors in = {leaf({2, 2}, 1, dtype)};
  check(SB_UNARY(add_Scalar(x, 2.5)), in);
  check(SB_UNARY(sub_Scalar(x, 2.5, 2)), in);
  check(SB_UNARY(rsub_Scalar(x, 2.5, 3)), in);
  check(SB_UNARY(mul_Scalar(x, -2.5)), in);
  check(SB_UNARY(div_Scalar(x, 2.5)), in);
  check(SB_UNARY(mul_Scalar(x, std::complex<double>(1, 2))), in);
  check(SB_UNARY(div_Scalar(x, std::complex<double>(1, 2))), in);
}

TEST_CASE("a real factor of a complex product has a real gradient") {
  check(SB_BINARY(mul(x, y)), {leaf({2}), leaf({2}, 2, DType::Complex128)});
  const std::complex<double> alpha(1, -2);
  check([&](const Tensors& in) { return add(in[0], in[1], alpha); },
        {leaf({2}, 1, DType::Complex128), leaf({2}, 2, DType::Complex128)});
}

TEST_CASE("a quotient that is rounded has a gradient of zeros") {
  const Tensors in = {leaf({2, 3}), leaf({3}, 2)};
  check(SB_BINARY(div_Tensor_mode(x, y, std::nullopt)), in);
  check(SB_BINARY(div_Tensor_mode(x, y, "floor")), in);
  check(SB_BINARY(div_Scalar_mode(x, 0.3, "trunc")), in);
  backward(sum(div_Tensor_mode(in[0], in[1], "trunc")));
  CHECK(values_of(grad_of(in[1])) == Values{0, 0, 0});
}

TEST_CASE("functions of one tensor have derivatives") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const Tensors in = {leaf({3}, 1, dtype)};
  check(SB_UNARY(exp(x)), in);
  check(SB_UNARY(log(x)), in);
  check(SB_UNARY(sqrt(x)), in);
  check(SB_UNARY(rsqrt(x)), in);
  check(SB_UNARY(sin(x)), in);
  check(SB_UNARY(cos(x)), in);
  check(SB_UNARY(tanh(x)), in);
  check(SB_UNARY(sigmoid(x)), in);
  check(SB_UNARY(reciprocal(x)), in);
}

TEST_CASE("relu lets the gradient through where the input is above 0") {
  const Tensor x = leaf_of({4}, {-1, 0, 0.5, 2});
  backward(sum(relu(x)));
  CHECK(values_of(grad_of(x)) == Values{0, 0, 1, 1});
}

TEST_CASE("a chain of operators in place has the derivative of the chain") {
  check(SB_BINARY(sigmoid_(sin(div_(add_(mul_(clone(x), y), x), y)))), {leaf({2}), leaf({2}, 2)});
}

TEST_CASE("of two operands the larger has the gradient, and equal ones half of it each") {
  check(SB_BINARY(maximum(x, y)), {leaf({2, 3}), leaf({3}, 2)});
  check(SB_BINARY(min_other(x, y)), {leaf({2, 3}), leaf({3}, 2)});
  const Tensor x = leaf_of({3}, {1, 2, 3}), y = leaf_of({3}, {2, 2, 2});
  backward(sum(maximum(x, y)));
  CHECK(values_of(grad_of(x)) == Values{0, 0.5, 1});
  CHECK(values_of(grad_of(y)) == Values{1, 0.5, 0});
}

TEST_CASE("comparisons give no gradient, and one of zeros in place") {
  const Tensor x = leaf({3}), y = leaf({3}, 2);
  CHECK_FALSE(requires_grad(eq(x, y)));
  CHECK_FALSE(requires_grad(lt_Scalar(x, 1)));
  CHECK_FALSE(requires_grad(logical_not(x)));
  backward(sum(ge_(clone(x), y)));
  CHECK(values_of(grad_of(x)) == Values{0, 0, 0});
  CHECK(values_of(grad_of(y)) == Values{0, 0, 0});
}

TEST_CASE("a logical operator in place leaves the gradient as it is") {
  const Tensor x = leaf({3});
  backward(sum(logical_and_(mul_Scalar(x, 3), x)));
  CHECK(values_of(grad_of(x)) == Values{3, 3, 3});
}

TEST_CASE("matrix products have derivatives by each operand") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const auto of = [&](std::vector<int64_t> sizes, double start) {
    return leaf(std::move(sizes), start, dtype);
  };
  check(SB_BINARY(mm(x, y)), {of({2, 3}, 1), of({3, 2}, 2)});
  check(SB_BINARY(bmm(x, y)), {of({2, 1, 3}, 1), of({2, 3, 2}, 2)});
  check(SB_BINARY(mv(x, y)), {of({2, 3}, 1), of({3}, 2)});
  check(SB_BINARY(dot(x, y)), {of({3}, 1), of({3}, 2)});
  check(SB_BINARY(matmul(x, y)), {of({2, 1, 2, 2}, 1), of({2, 2, 1}, 2)});
  check(SB_TERNARY(linear(x, y, z)), {of({1, 2, 3}, 1), of({2, 3}, 2), of({2}, 3)});
}

TEST_CASE("products with a summand have derivatives, beta and alpha included") {
  const DType dtype = GENERATE(DType::Float64, DType::Complex128);
  const auto of = [&](std::vector<int64_t> sizes, double start) {
    return leaf(std::move(sizes), start, dtype);
  };
  const Tensors matrices = {of({2}, 1), of({2, 3}, 2), of({3, 2}, 3)};
  check(SB_TERNARY(addmm(x, y, z, 2, 3)), matrices);
  check(SB_TERNARY(addmm(x, y, z, 0)), matrices);
  check(SB_TERNARY(addmv(x, y, z, 2, 3)), {of({2}, 1), of({2, 3}, 2), of({3}, 3)});
  const Tensors batches = {of({1, 2}, 1), of({2, 1, 3}, 2), of({2, 3, 2}, 3)};
  check(SB_TERNARY(baddbmm(x, y, z, 2, 3)), batches);
  check(SB_TERNARY(addbmm(x, y, z, 2, 3)), batches);
  check(SB_TERNARY(addbmm_(clone(x), y, z, 2, 3)), batches);
}

}  // namespace
}  // namespace sb
