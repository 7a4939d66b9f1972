// The derivatives of normalisations against finite differences, first and second.

#include <array>
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
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/group_norm.h"
#include "switchboard/ops/normalization/layer_norm.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/normalization/weight_norm.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using OptionalTensor = std::optional<Tensor>;
using test::tensor_of;

// Numbers without a pattern that a wrong formula would share.
Tensor numbers(std::vector<int64_t> sizes, double start, DType dtype = DType::Float64) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(std::sin(start + 1.7 * static_cast<double>(i * i)) + 0.1 * start);
  return tensor_of(std::move(sizes), values, dtype);
}
Tensor leaf(std::vector<int64_t> sizes, double start) {
  Tensor t = numbers(std::move(sizes), start);
  set_requires_grad(t);
  return t;
}

// First and second derivatives of the only result.
void check(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  const DifferentiableFunction wrapped = [&](const Tensors& in) { return Tensors{f(in)}; };
  gradcheck(wrapped, inputs);
  gradgradcheck(wrapped, inputs);
}

TEST_CASE("softmax has first and second derivatives along any dimension") {
  const int64_t dim = GENERATE(0, 1, -1);
  check([&](const Tensors& in) { return softmax(in[0], dim); }, {leaf({2, 3, 2}, 1)});
  check([&](const Tensors& in) { return log_softmax(in[0], dim); }, {leaf({2, 3, 2}, 1)});
}

TEST_CASE("the gradients of softmax have derivatives by the gradient and by the output") {
  const auto plain = [](const Tensors& in) {
    return _softmax_backward_data(in[0], in[1], 1, DType::Float64);
  };
  const auto log = [](const Tensors& in) {
    return _log_softmax_backward_data(in[0], in[1], 1, DType::Float64);
  };
  check(plain, {leaf({2, 3}, 1), leaf({2, 3}, 2)});
  check(log, {leaf({2, 3}, 1), leaf({2, 3}, 2)});
}

TEST_CASE("layer norm has derivatives with and without parameters") {
  check([](const Tensors& in) { return layer_norm(in[0], {3}); }, {leaf({2, 3}, 1)});
  check(
      [](const Tensors& in) {
        return layer_norm(in[0], {2, 2}, in[1], in[2], 0.1);
      },
      {leaf({3, 2, 2}, 1), leaf({2, 2}, 2), leaf({2, 2}, 3)});
  check([](const Tensors& in) { return layer_norm(in[0], {3}, std::nullopt, in[1]); },
        {leaf({2, 3}, 1), leaf({3}, 3)});
}

TEST_CASE("batch norm has derivatives in training, where the statistics follow the input") {
  const auto train = [](const Tensors& in) {
    const auto given = [&](size_t i) {
      return i < in.size() ? OptionalTensor(in[i]) : std::nullopt;
    };
    return batch_norm(in[0], given(1), given(2), std::nullopt, std::nullopt, true, 0.1, 0.1, false);
  };
  check(train, {leaf({4, 2}, 1), leaf({2}, 2), leaf({2}, 3)});
  check(train, {leaf({2, 3, 2}, 1), leaf({3}, 2), leaf({3}, 3)});
  check(train, {leaf({2, 2, 2, 2}, 1)});
}

TEST_CASE("batch norm has derivatives in evaluation, where they are constants") {
  const Tensor mean = numbers({3}, 5), var = exp(numbers({3}, 6));
  const auto evaluate = [&](const Tensors& in) {
    return batch_norm(in[0], in[1], in[2], mean, var, false, 0.1, 0.1, false);
  };
  check(evaluate, {leaf({2, 3, 2}, 1), leaf({3}, 2), leaf({3}, 3)});
  check(
      [&](const Tensors& in) {
        return batch_norm(in[0], std::nullopt, std::nullopt, mean, var, false, 0.1, 0.1, false);
      },
      {leaf({2, 3}, 1)});
}

TEST_CASE("the forms of batch norm that say what they write have the same derivatives") {
  const Tensors inputs = {leaf({2, 3, 2}, 1), leaf({3}, 2), leaf({3}, 3)};
  const Tensor mean = numbers({3}, 5), var = exp(numbers({3}, 6));
  check(
      [](const Tensors& in) {
        return std::get<0>(_native_batch_norm_legit_no_stats(in[0], in[1], in[2], true, 0.1, 0.1));
      },
      inputs);
  check(
      [&](const Tensors& in) {
        return std::get<0>(
            _native_batch_norm_legit_no_training(in[0], in[1], in[2], mean, var, 0.1, 0.1));
      },
      inputs);
  const bool training = GENERATE(false, true);
  check(
      [&](const Tensors& in) {
        return std::get<0>(_native_batch_norm_legit_functional(in[0], in[1], in[2], mean, var,
                                                               training, 0.1, 0.1));
      },
      inputs);
  check(
      [&](const Tensors& in) {
        return std::get<0>(_native_batch_norm_legit(in[0], in[1], in[2], clone(mean), clone(var),
                                                    training, 0.1, 0.1));
      },
      inputs);
}

TEST_CASE("training counts its writes to running statistics, and goes back in spite of them") {
  const Tensor input = leaf({2, 3, 2}, 1), mean = numbers({3}, 5), var = exp(numbers({3}, 6));
  const uint32_t before = mean.version();
  const Tensor out = std::get<0>(
      _native_batch_norm_legit(input, std::nullopt, std::nullopt, mean, var, true, 0.1, 0.1));
  CHECK(mean.version() == before + 1);
  add_Scalar_(var, 1);
  CHECK_NOTHROW(backward(sum(out)));
}

TEST_CASE("evaluation refuses to go back by running statistics that were written to since") {
  const Tensor input = leaf({2, 3, 2}, 1), mean = numbers({3}, 5), var = exp(numbers({3}, 6));
  const Tensor out =
      batch_norm(input, std::nullopt, std::nullopt, mean, var, false, 0.1, 0.1, false);
  add_Scalar_(var, 1);
  CHECK_THROWS_AS(backward(sum(out)), RuntimeError);
}

TEST_CASE("instance norm has the derivatives of its parts") {
  check(
      [](const Tensors& in) {
        return instance_norm(in[0], in[1], in[2], std::nullopt, std::nullopt, true, 0.1, 0.1,
                             false);
      },
      {leaf({2, 2, 3}, 1), leaf({2}, 2), leaf({2}, 3)});
}

TEST_CASE("group norm has derivatives, also by what it says of groups") {
  check([](const Tensors& in) { return group_norm(in[0], 2, in[1], in[2], 0.1); },
        {leaf({2, 4, 2}, 1), leaf({4}, 2), leaf({4}, 3)});
  check([](const Tensors& in) { return group_norm(in[0], 2, std::nullopt, in[1], 0.1); },
        {leaf({2, 4, 2}, 1), leaf({4}, 3)});
  const DifferentiableFunction all = [](const Tensors& in) {
    const auto [out, mean, rstd] = native_group_norm(in[0], in[1], in[2], 2, 4, 3, 2, 0.1);
    return Tensors{out, mean, rstd};
  };
  const Tensors inputs = {leaf({2, 4, 3}, 1), leaf({4}, 2), leaf({4}, 3)};
  gradcheck(all, inputs);
  gradgradcheck(all, inputs);
}

TEST_CASE("the gradients of group norm have derivatives by the statistics too") {
  const Tensors inputs = {leaf({2, 4, 3}, 1), leaf({2, 4, 3}, 2), leaf({2, 2}, 3), leaf({2, 2}, 4),
                          leaf({4}, 5)};
  gradcheck(
      [](const Tensors& in) {
        const auto [input, weight, bias] = native_group_norm_backward(
            in[0], in[1], in[2], in[3], in[4], 2, 4, 3, 2, std::array<bool, 3>{true, true, true});
        return Tensors{input, weight, bias};
      },
      inputs);
}

TEST_CASE("a statistic that is an input of its own has no derivative, and says so") {
  const Tensor input = leaf({2, 3, 2}, 1), mean = leaf({3}, 5);
  const Tensor out = batch_norm(input, std::nullopt, std::nullopt, mean, exp(numbers({3}, 6)),
                                false, 0.1, 0.1, false);
  CHECK_THROWS_AS(backward(sum(out)), NotImplementedError);
}

TEST_CASE("only the first result of layer and batch norm has a gradient") {
  const Tensor input = leaf({2, 3, 2}, 1);
  const auto [out, mean, rstd] = native_layer_norm(input, {2}, std::nullopt, std::nullopt, 0.1);
  CHECK(requires_grad(out));
  CHECK_FALSE(requires_grad(mean));
  CHECK_FALSE(requires_grad(rstd));
  const auto [normalised, save_mean, save_invstd] = native_batch_norm(
      input, std::nullopt, std::nullopt, std::nullopt, std::nullopt, true, 0.1, 0.1);
  CHECK(requires_grad(normalised));
  CHECK_FALSE(requires_grad(save_mean));
  CHECK_FALSE(requires_grad(save_invstd));
}

TEST_CASE("weights of another length have derivatives by direction and length") {
  const auto of = [](int64_t dim) {
    return [dim](const Tensors& in) { return _weight_norm(in[0], in[1], dim); };
  };
  check(of(0), {leaf({3, 2, 2}, 1), leaf({3, 1, 1}, 2)});
  check(of(2), {leaf({3, 2, 2}, 1), leaf({1, 1, 2}, 2)});
  check(of(1), {leaf({3, 2, 2}, 1), leaf({1, 2, 1}, 2)});
  check(of(-1), {leaf({3, 2}, 1), leaf({1}, 2)});
}

}  // namespace
}  // namespace sb
