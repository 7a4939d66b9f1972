// The derivatives of losses against finite differences, first and second.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/loss/composed.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/loss/margin.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/loss/packed_sequence.h"
#include "switchboard/ops/loss/pointwise.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::tensor_of;

// Numbers without a pattern that a wrong formula would share.
Tensor numbers(std::vector<int64_t> sizes, double start) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(2 * std::sin(start + 1.7 * static_cast<double>(i * i)));
  return tensor_of(std::move(sizes), values, DType::Float64);
}
Tensor leaf(const Tensor& t) {
  set_requires_grad(t);
  return t;
}
Tensor leaf(std::vector<int64_t> sizes, double start) {
  return leaf(numbers(std::move(sizes), start));
}
Tensor probabilities(std::vector<int64_t> sizes, double start) {
  return leaf(sigmoid(numbers(std::move(sizes), start)));
}

using OneResult = std::function<Tensor(const Tensors&)>;
void check_first(const OneResult& f, const Tensors& inputs) {
  gradcheck([&](const Tensors& in) { return Tensors{f(in)}; }, inputs);
}
void check(const OneResult& f, const Tensors& inputs) {
  check_first(f, inputs);
  gradgradcheck([&](const Tensors& in) { return Tensors{f(in)}; }, inputs);
}

TEST_CASE("pointwise losses have derivatives by both tensors in each reduction") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensors inputs = {leaf({2, 3}, 1), leaf({2, 3}, 2)};
  check([&](const Tensors& in) { return mse_loss(in[0], in[1], reduction); }, inputs);
  check([&](const Tensors& in) { return l1_loss(in[0], in[1], reduction); }, inputs);
  check([&](const Tensors& in) { return smooth_l1_loss(in[0], in[1], reduction, 1.3); }, inputs);
  check_first([&](const Tensors& in) { return smooth_l1_loss(in[0], in[1], reduction, 0); },
              inputs);
  check([&](const Tensors& in) { return huber_loss(in[0], in[1], reduction, 0.7); }, inputs);
  check([&](const Tensors& in) { return soft_margin_loss(in[0], in[1], reduction); }, inputs);
  check([&](const Tensors& in) { return kl_div(in[0], in[1], reduction, true); }, inputs);
  check([&](const Tensors& in) { return kl_div(in[0], in[1], reduction); },
        {leaf({2, 3}, 1), probabilities({2, 3}, 2)});
}

TEST_CASE("pointwise losses of tensors that broadcast divide by the number of losses") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensors inputs = {leaf({2, 1}, 1), leaf({3}, 2)};
  check([&](const Tensors& in) { return mse_loss(in[0], in[1], reduction); }, inputs);
  check([&](const Tensors& in) { return smooth_l1_loss(in[0], in[1], reduction, 1.3); }, inputs);
  check([&](const Tensors& in) { return huber_loss(in[0], in[1], reduction, 0.7); },
        {leaf({2, 3}, 1), leaf({3}, 2)});
  check([&](const Tensors& in) { return soft_margin_loss(in[0], in[1], reduction); },
        {leaf({2, 3}, 1), leaf({3}, 2)});
}

TEST_CASE("a loss of two dtypes gives each tensor a gradient of its own") {
  const Tensor self = leaf(tensor_of({2}, {1, 2}, DType::Float32)), target = leaf({2}, 1);
  backward(mse_loss(self, target, kReduceSum));
  CHECK(grad_of(self).dtype() == DType::Float32);
  CHECK(grad_of(target).dtype() == DType::Float64);
}

TEST_CASE("gradients of pointwise losses have derivatives by all that they are made of") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensors inputs = {leaf({2, 3}, 3), leaf({2, 3}, 1), leaf({2, 3}, 2)};
  check([&](const Tensors& in) { return mse_loss_backward(in[0], in[1], in[2], reduction); },
        inputs);
  check(
      [&](const Tensors& in) {
        return smooth_l1_loss_backward(in[0], in[1], in[2], reduction, 1.3);
      },
      inputs);
  check([&](const Tensors& in) { return huber_loss_backward(in[0], in[1], in[2], reduction, 0.7); },
        inputs);
  check(
      [&](const Tensors& in) { return soft_margin_loss_backward(in[0], in[1], in[2], reduction); },
      inputs);
}

TEST_CASE("binary cross entropy has derivatives by probabilities, targets and weights") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensors inputs = {probabilities({2, 3}, 1), probabilities({2, 3}, 2), leaf({2, 3}, 3)};
  check(
      [&](const Tensors& in) {
        return binary_cross_entropy(in[0], in[1], std::nullopt, reduction);
      },
      {inputs[0], inputs[1]});
  check([&](const Tensors& in) { return binary_cross_entropy(in[0], in[1], in[2], reduction); },
        inputs);
  check(
      [&](const Tensors& in) {
        return binary_cross_entropy_backward(in[3], in[0], in[1], in[2], reduction);
      },
      {inputs[0], inputs[1], inputs[2], leaf({2, 3}, 4)});
}

TEST_CASE("the second derivatives of binary cross entropy go on beyond 0 and 1, as PyTorch's do") {
  const Tensor self = leaf(tensor_of({2}, {1.5, -0.5}, DType::Float64));
  const Tensor target = tensor_of({2}, {0.4, 0.3}, DType::Float64);
  const Tensor grad_output = leaf(tensor_of({2}, {-2, -1}, DType::Float64));
  const std::vector<Tensor> grads = grad(
      {sum(binary_cross_entropy_backward(grad_output, self, target, std::nullopt, kReduceNone))},
      {grad_output, self});
  const auto by_output = test::values_of(grads[0]), by_self = test::values_of(grads[1]);
  CHECK(by_output[0] == Approx(-1.1 / 0.75));
  CHECK(by_output[1] == Approx(0.8 / 0.75));
  CHECK(by_self[0] == Approx(-2 * 1.45 / 0.5625));
  CHECK(by_self[1] == Approx(-0.85 / 0.5625));
}

TEST_CASE("binary cross entropy of logits has derivatives by everything") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensors inputs = {leaf({2, 3}, 1), probabilities({2, 3}, 2), leaf({2, 3}, 3),
                          probabilities({3}, 4)};
  check(
      [&](const Tensors& in) {
        return binary_cross_entropy_with_logits(in[0], in[1], in[2], in[3], reduction);
      },
      inputs);
  check(
      [&](const Tensors& in) {
        return binary_cross_entropy_with_logits(in[0], in[1], std::nullopt, std::nullopt,
                                                reduction);
      },
      {inputs[0], inputs[1]});
}

TEST_CASE("the negative log likelihood has derivatives in each shape and reduction") {
  const int64_t reduction = GENERATE(kReduceNone, kReduceMean, kReduceSum);
  const Tensor weight = tensor_of({3}, {0.5, 2, 1}, DType::Float64);
  const Tensor rows = tensor_of({2}, {2, 0}, DType::Int64);
  const Tensor images = tensor_of({2, 1, 2}, {0, 1, 2, 1}, DType::Int64);
  const Tensor one = tensor_of({}, {1}, DType::Int64);
  check([&](const Tensors& in) { return nll_loss(in[0], rows, weight, reduction); },
        {leaf({2, 3}, 1)});
  check([&](const Tensors& in) { return nll_loss(in[0], rows, weight, reduction, 0); },
        {leaf({2, 3}, 1)});
  check([&](const Tensors& in) { return nll_loss(in[0], one, weight, reduction); }, {leaf({3}, 1)});
  check([&](const Tensors& in) { return nll_loss2d(in[0], images, weight, reduction); },
        {leaf({2, 3, 1, 2}, 1)});
  check(
      [&](const Tensors& in) { return cross_entropy_loss(in[0], rows, weight, reduction, 0, 0.2); },
      {leaf({2, 3}, 1)});
  check([&](const Tensors& in) { return cross_entropy_loss(in[0], in[1], weight, reduction); },
        {leaf({2, 3}, 1), leaf({2, 3}, 2)});
}

TEST_CASE("what has no derivative says so when it is asked for") {
  const Tensor self = leaf({2, 3}, 1), weight = leaf({3}, 2);
  const Tensor target = tensor_of({2}, {2, 0}, DType::Int64);
  CHECK_THROWS_WITH(backward(nll_loss(self, target, weight)),
                    "aten::nll_loss_forward backward: nll_loss: no derivative by weight is known");
  CHECK_THROWS_AS(backward(multi_margin_loss(self, target, 1, 1, weight)), NotImplementedError);
  GradOptions options;
  options.create_graph = true;
  const Tensor grad = sb::grad({multi_margin_loss(self, target, 1)}, {self}, {}, options)[0];
  CHECK_THROWS_AS(backward(sum(grad)), RuntimeError);
}

TEST_CASE("losses with margins have first derivatives") {
  const Tensor target = tensor_of({2}, {2, 0}, DType::Int64);
  const Tensor labels = tensor_of({2, 3}, {2, 0, -1, 1, -1, -1}, DType::Int64);
  const Tensor weight = tensor_of({3}, {0.5, 2, 1}, DType::Float64);
  const int64_t p = GENERATE(1, 2);
  check_first([&](const Tensors& in) { return multi_margin_loss(in[0], target, p, 1.5, weight); },
              {leaf({2, 3}, 1)});
  check_first([&](const Tensors& in) { return multilabel_margin_loss(in[0], labels); },
              {leaf({2, 3}, 1)});
}

TEST_CASE("losses composed of others have the derivatives of these") {
  const Tensor signs = tensor_of({2}, {1, -1}, DType::Float64);
  const Tensors pair = {leaf({2, 3}, 1), leaf({2, 3}, 2)};
  check([&](const Tensors& in) { return margin_ranking_loss(in[0], in[1], signs, 0.3); },
        {leaf({2}, 1), leaf({2}, 2)});
  check([&](const Tensors& in) { return hinge_embedding_loss(in[0], signs); }, {leaf({2}, 1)});
  check([&](const Tensors& in) { return cosine_embedding_loss(in[0], in[1], signs, -2); }, pair);
  check(
      [&](const Tensors& in) { return triplet_margin_loss(in[0], in[1], in[2], 3, 2, 1e-6, true); },
      {leaf({2, 3}, 1), leaf({2, 3}, 2), leaf({2, 3}, 3)});
  check([&](const Tensors& in) { return poisson_nll_loss(in[0], in[1], true, false, 1e-8, 1); },
        pair);
  check([&](const Tensors& in) { return pairwise_distance(in[0], in[1]); }, pair);
  check([&](const Tensors& in) { return cosine_similarity(in[0], in[1]); }, pair);
}

TEST_CASE("dropout gives back what it let through") {
  const Tensor input = leaf({50}, 1);
  const auto [out, mask] = native_dropout(input, 0.25, true);
  CHECK_FALSE(requires_grad(mask));
  backward(sum(out));
  CHECK(test::values_of(grad_of(input)) ==
        test::values_of(native_dropout_backward(ones_like(input), mask, 1 / 0.75)));
  check([&, mask = mask](const Tensors& in) { return native_dropout_backward(in[0], mask, 2); },
        {input});
}

TEST_CASE("every form of dropout gives a gradient to what it kept") {
  const auto check_form = [](const auto& op) {
    const Tensor input = leaf({4, 5}, 1);
    const Tensor out = op(mul_Scalar(input, 1), 0.5, true);
    backward(sum(out));
    CHECK(test::values_of(mul(grad_of(input), input)) == test::values_of(out));
  };
  check_form(dropout);
  check_form(dropout_);
  check_form(feature_dropout);
  check_form(feature_dropout_);
}

TEST_CASE("alpha dropout gives one gradient to all that it kept") {
  const auto check_form = [](const auto& op) {
    const Tensor input = leaf({4, 5}, 1);
    backward(sum(op(mul_Scalar(input, 1), 0.5, true)));
    const std::vector<double> grads = test::values_of(grad_of(input));
    const double kept = *std::max_element(grads.begin(), grads.end());
    CHECK(kept > 0);
    for (double g : grads) CHECK((g == 0 || g == kept));
  };
  check_form(alpha_dropout);
  check_form(alpha_dropout_);
}

TEST_CASE("native_dropout of an empty tensor is the tensor itself, which stays a leaf") {
  const Tensor input = leaf({0}, 1);
  const auto [out, mask] = native_dropout(input, 0.25, true);
  CHECK(out.is_same(input));
  CHECK(is_leaf(input));
  CHECK_FALSE(requires_grad(mask));
}

TEST_CASE("packed sequences give their gradients back to where they came from") {
  const Tensor lengths = tensor_of({3}, {4, 2, 1}, DType::Int64);
  const bool batch_first = GENERATE(false, true);
  check(
      [&](const Tensors& in) {
        return std::get<0>(_pack_padded_sequence(in[0], lengths, batch_first));
      },
      {batch_first ? leaf({3, 4, 2}, 1) : leaf({4, 3, 2}, 1)});
  const Tensor steps = tensor_of({4}, {3, 2, 1, 1}, DType::Int64);
  check(
      [&](const Tensors& in) {
        return std::get<0>(_pad_packed_sequence(in[0], steps, batch_first, 0.5, 5));
      },
      {leaf({7, 2}, 1)});
  check([&](const Tensors& in) { return pad_sequence(in, batch_first); },
        {leaf({2, 2}, 1), leaf({3, 2}, 2)});
}

}  // namespace
}  // namespace sb
