#include <algorithm>
#include <cmath>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/loss/composed.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/loss/packed_sequence.h"
#include "switchboard/ops/loss/pointwise.h"
#include "switchboard/ops/loss/rrelu.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

template <class T>
Tensor tensor(const std::vector<T>& values) {
  const Tensor t = empty_on(DeviceType::CPU, {static_cast<int64_t>(values.size())}, dtype_of<T>);
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}
template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor dense = contiguous(t);
  return std::vector<T>(dense.data<T>(), dense.data<T>() + dense.numel());
}

TEST_CASE("a class out of range is an IndexError, and out is as it was", "[ops][loss]") {
  const Tensor self = view(tensor<float>({1, 2, 3, 4}), {2, 2});
  const Tensor out = tensor<float>({7, 7});
  CHECK_THROWS_AS(nll_loss_out(self, tensor<int64_t>({0, 2}), std::nullopt, 0, -100, out),
                  IndexError);
  CHECK(values<float>(out) == std::vector<float>{7, 7});
  const Tensor one = empty_on(DeviceType::CPU, {}, DType::Float32);
  *one.data<float>() = 1;
  CHECK_THROWS_AS(
      nll_loss_backward(one, self, tensor<int64_t>({0, -1}), std::nullopt, 1, -100, one),
      IndexError);
}

TEST_CASE("gradients of mse_loss go to a grad_input of another dtype", "[ops][loss]") {
  const Tensor x = tensor<float>({1, 3}), y = tensor<float>({2, 1}), grad = tensor<float>({1, 10});
  const Tensor out = tensor<double>({0, 0});
  mse_loss_backward_out(grad, x, y, 0, out);
  CHECK(values<double>(out) == std::vector<double>{-2, 40});
}

TEST_CASE("the mean over ignored targets alone is NaN, their sum 0", "[ops][loss]") {
  const Tensor self = view(tensor<float>({1, 2, 3, 4}), {2, 2});
  const Tensor target = tensor<int64_t>({1, 1});
  CHECK(std::isnan(*nll_loss(self, target, std::nullopt, 1, 1).data<float>()));
  CHECK(*nll_loss(self, target, std::nullopt, 2, 1).data<float>() == 0);
}

TEST_CASE("nll_loss_nd of one dimension behind the classes is nll_loss2d of one row",
          "[ops][loss]") {
  std::vector<float> numbers(2 * 3 * 4);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Tensor self = view(tensor(numbers), {2, 3, 4});
  const Tensor target = view(tensor<int64_t>({0, 1, 2, 0, 1, 2, 0, 1}), {2, 4});
  const Tensor loss = nll_loss_nd(self, target, std::nullopt, 0);
  CHECK(values<float>(loss) ==
        values<float>(nll_loss2d(unsqueeze(self, 2), unsqueeze(target, 1), std::nullopt, 0)));
  CHECK(values<float>(loss)[1] == -5);
}

TEST_CASE("the loss of logits is finite where that of probabilities would not be", "[ops][loss]") {
  const Tensor logits = tensor<float>({1000, -1000});
  const Tensor target = tensor<float>({0, 1});
  CHECK(values<float>(binary_cross_entropy_with_logits(logits, target, std::nullopt, std::nullopt,
                                                       0)) == std::vector<float>{1000, 1000});
}

TEST_CASE("what is no probability is refused before out is written", "[ops][loss]") {
  const Tensor out = tensor<float>({7, 7});
  CHECK_THROWS_AS(binary_cross_entropy_out(tensor<float>({0.5f, 1.5f}), tensor<float>({0, 1}),
                                           std::nullopt, 0, out),
                  RuntimeError);
  CHECK(values<float>(out) == std::vector<float>{7, 7});
}

TEST_CASE("dropout keeps about the share that it should, and scales it", "[ops][loss]") {
  const std::vector<float> kept = values<float>(dropout(ones({10000}), 0.25, true));
  const auto zeros = std::count(kept.begin(), kept.end(), 0.0f);
  CHECK(zeros > 2200);
  CHECK(zeros < 2800);
  CHECK(std::count(kept.begin(), kept.end(), 1 / 0.75f) == 10000 - zeros);
}

TEST_CASE("feature dropout drops whole channels", "[ops][loss]") {
  const std::vector<float> kept = values<float>(feature_dropout(ones({8, 8, 16}), 0.5, true));
  for (size_t channel = 0; channel < 64; ++channel) {
    for (size_t i = 0; i < 16; ++i) REQUIRE(kept[channel * 16 + i] == kept[channel * 16]);
  }
}

TEST_CASE("padding what was packed gives the sequences back", "[ops][loss]") {
  const Tensor padded = view(tensor<float>({1, 2, 3, 4, 5, 0}), {2, 3});
  const auto [data, batch_sizes] = _pack_padded_sequence(padded, tensor<int64_t>({3, 2}), true);
  CHECK(values<float>(data) == std::vector<float>{1, 4, 2, 5, 3});
  const auto [again, lengths] = _pad_packed_sequence(data, batch_sizes, true, 0, 0);
  CHECK(values<float>(again) == values<float>(padded));
  CHECK(values<int64_t>(lengths) == std::vector<int64_t>{3, 2});
  CHECK_THROWS_AS(_pad_packed_sequence(data, tensor<int64_t>({2, 9}), true, 0, 0), RuntimeError);
}

TEST_CASE("lengths beyond the sequences are refused", "[ops][loss]") {
  const Tensor padded = empty_on(DeviceType::CPU, {2, 2}, DType::Float32);
  CHECK_THROWS_AS(_pack_padded_sequence(padded, tensor<int64_t>({3, 1}), false), RuntimeError);
  CHECK_THROWS_AS(_pack_padded_sequence_backward(tensor<float>({1, 2, 3}), {2, 1},
                                                 tensor<int64_t>({2, 1}), false),
                  RuntimeError);
}

TEST_CASE("rrelu draws slopes for what is not above 0, and takes the mean one in evaluation") {
  const Tensor x = test::tensor_of({4}, {1, -1, 0, -2}), noise = test::tensor_of({4}, {0, 0, 0, 0});
  const Tensor y = rrelu_with_noise(x, noise, 0.25, 0.5, /*training=*/true);
  const std::vector<double> slopes = test::values_of(noise), results = test::values_of(y);
  CHECK(slopes[0] == 1);
  for (const size_t i : {1, 2, 3}) CHECK((slopes[i] >= 0.25 && slopes[i] <= 0.5));
  CHECK(results[3] == Approx(-2 * slopes[3]));
  CHECK(test::holds(rrelu(x, 0.25, 0.75), {1, -0.5, 0, -1}));
  CHECK_THROWS_AS(rrelu(x, 0.5, 0.25), RuntimeError);
}

}  // namespace
}  // namespace sb
