// Gradients go no further than to a draw, and come out of it as zeros.

#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/random/bernoulli.h"
#include "switchboard/ops/random/distributions.h"
#include "switchboard/ops/random/gamma_gradient.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using test::tensor_of;

Tensor leaf() {
  Tensor t = tensor_of({3}, {0.25, 0.5, 0.75}, DType::Float64);
  set_requires_grad(t);
  return t;
}
// The gradient that a sum of draws gives back.
std::vector<double> gradient_through(Tensor (*draw)(const Tensor&)) {
  const Tensor x = leaf();
  backward(sum(draw(x)));
  return test::values_of(grad_of(x));
}
Tensor call(const char* op, Stack arguments) {
  default_dispatcher().find_op_or_throw(op).call_boxed(&arguments);
  return arguments[0].to_tensor();
}

TEST_CASE("what a draw overwrites gets a gradient of zeros") {
  const std::vector<double> zeros = {0, 0, 0};
  CHECK(gradient_through([](const Tensor& x) { return uniform_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return uniform(x); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return normal_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return normal_functional(x); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return log_normal_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return exponential_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return cauchy_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return geometric_(clone(x), 0.5); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return random_(clone(x)); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return random_to_(clone(x), 5); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return random_from_(clone(x), 2, 5); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) { return bernoulli_float_(clone(x)); }) == zeros);
}

TEST_CASE("parameters that are tensors get gradients of zeros, in their own shapes") {
  const std::vector<double> zeros = {0, 0, 0};
  CHECK(gradient_through([](const Tensor& x) { return bernoulli(x); }) == zeros);
  CHECK(gradient_through([](const Tensor& x) {
          return bernoulli_Tensor_(sb::zeros({2, 3}, DType::Float64), x);
        }) == zeros);
  CHECK(gradient_through([](const Tensor& x) {
          return call("aten::normal.Tensor_Tensor", {IValue(x), IValue(x), IValue()});
        }) == zeros);
  CHECK(gradient_through([](const Tensor& x) {
          return call("aten::normal.Tensor_float", {IValue(x), IValue(1.0), IValue()});
        }) == zeros);
  CHECK(gradient_through([](const Tensor& x) {
          return call("aten::normal.float_Tensor", {IValue(1.0), IValue(x), IValue()});
        }) == zeros);
  CHECK(gradient_through([](const Tensor& x) {
          return call("aten::poisson", {IValue(x), IValue()});
        }) == zeros);
}

TEST_CASE("a draw from gamma moves with its shape as its place in the distribution says") {
  const Tensor shapes = tensor_of({7}, {0.3, 1, 5, 50, 1000, 0.3, 0.01}, DType::Float64);
  const Tensor draws = tensor_of({7}, {0.1, 2, 4, 60, 900, 5, 0}, DType::Float64);
  // By high-precision differences of the incomplete gamma function.
  const std::vector<double> expected = {0.789404403118272,
                                        1.6316914623497,
                                        0.922726134268014,
                                        1.09757958577672,
                                        0.948402638179365,
                                        4.69982441567983,
                                        0};
  const std::vector<double> found = test::values_of(_standard_gamma_grad(shapes, draws));
  for (size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-6));
  CHECK_THROWS_AS(_standard_gamma_grad(shapes, tensor_of({1}, {1})), RuntimeError);

  const Tensor shape = leaf();
  const Tensor drawn = call("aten::_standard_gamma", {IValue(shape), IValue()});
  backward(sum(drawn));
  CHECK(test::values_of(grad_of(shape)) == test::values_of(_standard_gamma_grad(shape, drawn)));
}

TEST_CASE("a tensor that is like another, or holds indices, has no gradient") {
  CHECK_FALSE(requires_grad(rand_like(leaf())));
  CHECK_FALSE(requires_grad(randn_like(leaf())));
  CHECK_FALSE(requires_grad(randint_like(leaf(), 3)));
  CHECK_FALSE(requires_grad(bernoulli_p(leaf(), 0.5)));
  CHECK_FALSE(requires_grad(
      call("aten::multinomial", {IValue(leaf()), IValue(int64_t{2}), IValue(false), IValue()})));
}

TEST_CASE("a leaf that requires a gradient is not drawn over") {
  const Tensor x = leaf();
  CHECK_THROWS_AS(uniform_(x), RuntimeError);
  CHECK(test::values_of(x) == std::vector<double>{0.25, 0.5, 0.75});
}

}  // namespace
}  // namespace sb
