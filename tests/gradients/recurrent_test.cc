#include "switchboard/ops/recurrent/recurrent.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Tensors = std::vector<Tensor>;
using test::Sizes;
using test::sizes_of;

// Different numbers of both signs.
Tensor numbers(std::vector<int64_t> sizes, double seed, Device place = DeviceType::CPU) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(0.6 * std::sin(seed + 1.7 * static_cast<double>(i * i)));
  return test::tensor_of(std::move(sizes), values, DType::Float64, place);
}

// Of layers with features 3 and hidden size 2.
Tensors parameters(int64_t gates, int64_t layers, int64_t directions,
                   Device place = DeviceType::CPU) {
  Tensors all;
  for (int64_t l = 0; l < layers; ++l) {
    for (int64_t d = 0; d < directions; ++d) {
      const double seed = static_cast<double>(10 * l + 5 * d);
      all.push_back(numbers({gates * 2, l == 0 ? 3 : 2 * directions}, seed + 1, place));
      all.push_back(numbers({gates * 2, 2}, seed + 2, place));
      all.push_back(numbers({gates * 2}, seed + 3, place));
      all.push_back(numbers({gates * 2}, seed + 4, place));
    }
  }
  return all;
}

void check_same(const Tensor& a, const Tensor& b) {
  const auto x = test::values_of(a), y = test::values_of(b);
  REQUIRE(x.size() == y.size());
  for (size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).margin(1e-12));
}

TEST_CASE("a step of an lstm is what its equations say") {
  const auto one = [](double value) { return test::tensor_of({1, 1}, {value}, DType::Float64); };
  const Tensor w_ih = test::tensor_of({4, 1}, {0.1, 0.2, 0.3, 0.4}, DType::Float64);
  const Tensor w_hh = test::tensor_of({4, 1}, {0.5, 0.6, 0.7, 0.8}, DType::Float64);
  const auto [h, c] = lstm_cell(one(2), {one(0.5), one(-0.25)}, w_ih, w_hh);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double kept = sigmoid(0.4 + 0.3) * -0.25;
  const double expected = kept + sigmoid(0.2 + 0.25) * std::tanh(0.6 + 0.35);
  CHECK(test::values_of(c)[0] == Approx(expected));
  CHECK(test::values_of(h)[0] == Approx(sigmoid(0.8 + 0.4) * std::tanh(expected)));
}

TEST_CASE("a step of a gru is what its equations say") {
  const auto one = [](double value) { return test::tensor_of({1, 1}, {value}, DType::Float64); };
  const Tensor w_ih = test::tensor_of({3, 1}, {0.1, 0.2, 0.3}, DType::Float64);
  const Tensor w_hh = test::tensor_of({3, 1}, {0.5, 0.6, 0.7}, DType::Float64);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double reset = sigmoid(0.2 + 0.25), update = sigmoid(0.4 + 0.3);
  const double made = std::tanh(0.6 + reset * 0.35);
  CHECK(test::values_of(gru_cell(one(2), one(0.5), w_ih, w_hh))[0] ==
        Approx((1 - update) * made + update * 0.5));
}

TEST_CASE("a layer is its cell at each step, and the other direction begins at the end") {
  const Tensors p = parameters(4, 1, 2);
  const Tensor x = numbers({3, 2, 3}, 1), h = numbers({2, 2, 2}, 2), c = numbers({2, 2, 2}, 3);
  const auto [output, last_h, last_c] = lstm(x, {h, c}, p, true, 1, 0, false, true, false);
  CHECK(sizes_of(output) == Sizes{3, 2, 4});
  Tensor forward_h = select(h, 0, 0), forward_c = select(c, 0, 0);
  for (int64_t t = 0; t < 3; ++t) {
    std::tie(forward_h, forward_c) =
        lstm_cell(select(x, 0, t), {forward_h, forward_c}, p[0], p[1], p[2], p[3]);
    check_same(slice(select(output, 0, t), 1, 0, 2), forward_h);
  }
  check_same(select(last_h, 0, 0), forward_h);
  check_same(select(last_c, 0, 0), forward_c);
  Tensor back_h = select(h, 0, 1), back_c = select(c, 0, 1);
  for (int64_t t = 3; t-- > 0;) {
    std::tie(back_h, back_c) = lstm_cell(select(x, 0, t), {back_h, back_c}, p[4], p[5], p[6], p[7]);
    check_same(slice(select(output, 0, t), 1, 2, 4), back_h);
  }
  check_same(select(last_h, 0, 1), back_h);
}

TEST_CASE("layers follow one another, with time or batch first") {
  const Tensors p = parameters(3, 2, 1);
  const Tensor x = numbers({3, 2, 3}, 1), h = numbers({2, 2, 2}, 2);
  const auto [output, last] = gru(x, h, p, true, 2, 0, false, false, false);
  const Tensors first(p.begin(), p.begin() + 4), second(p.begin() + 4, p.end());
  const Tensor between =
      std::get<0>(gru(x, slice(h, 0, 0, 1), first, true, 1, 0, false, false, false));
  check_same(output,
             std::get<0>(gru(between, slice(h, 0, 1, 2), second, true, 1, 0, false, false, false)));
  const auto [by_batch, same_last] = gru(transpose(x, 0, 1), h, p, true, 2, 0, false, false, true);
  check_same(transpose(by_batch, 0, 1), output);
  CHECK(by_batch.strides() == IntArrayRef{2, 4, 1});
  check_same(last, same_last);
}

TEST_CASE("an lstm may project its output") {
  const Tensors p = {numbers({8, 3}, 1), numbers({8, 1}, 2), numbers({1, 2}, 3)};
  const auto [output, h, c] =
      lstm(numbers({3, 2, 3}, 4), {numbers({1, 2, 1}, 5), numbers({1, 2, 2}, 6)}, p, false, 1, 0,
           false, false, false);
  CHECK(sizes_of(output) == Sizes{3, 2, 1});
  CHECK(sizes_of(h) == Sizes{1, 2, 1});
  CHECK(sizes_of(c) == Sizes{1, 2, 2});
}

TEST_CASE("recurrent layers give shapes on every device, and refuse what does not fit") {
  const Device place = GENERATE(from_range(test::places()));
  const Tensor x = numbers({3, 2, 3}, 1, place), h = numbers({1, 2, 2}, 2, place);
  const Tensors p = parameters(1, 1, 1, place);
  for (const auto& [output, last] : {rnn_tanh(x, h, p, true, 1, 0, false, false, false),
                                     rnn_relu(x, h, p, true, 1, 0, false, false, false)}) {
    CHECK(sizes_of(output) == Sizes{3, 2, 2});
    CHECK(sizes_of(last) == Sizes{1, 2, 2});
  }
  const auto run = [&](const Tensor& x, const Tensor& h, const Tensors& p, int64_t layers = 1) {
    rnn_tanh(x, h, p, true, layers, 0, false, false, false);
  };
  CHECK_THROWS_WITH(run(x, h, {p[0], p[1], p[2]}),
                    Catch::Contains("rnn_tanh: params: expected 4 tensors"));
  CHECK_THROWS_WITH(run(x, h, p, 2), Catch::Contains("rnn_tanh: hx: expected (2, 2, hidden)"));
  CHECK_THROWS_AS(run(x, h, p, 0), RuntimeError);
  // Twice as many, or four times as many parameters, are no number.
  for (const int64_t layers : {int64_t{1} << 62, std::numeric_limits<int64_t>::max()})
    CHECK_THROWS_WITH(run(x, h, p, layers), Catch::Contains("rnn_tanh: hx: expected ("));
  CHECK_THROWS_AS(run(select(x, 0, 0), h, p), RuntimeError);
  CHECK_THROWS_AS(run(x, numbers({1, 1, 2}, 2, place), p), RuntimeError);
  CHECK_THROWS_AS(run(slice(x, 0, 0, 0), h, p), RuntimeError);
  CHECK_THROWS_WITH(run(x, h, {p[0], p[0], p[2], p[3]}), Catch::Contains("w_hh: expected 2 rows"));
  CHECK_THROWS_AS(run(Tensor(), h, p), Error);
  CHECK_THROWS_AS(lstm(x, {h}, p, true, 1, 0, false, false, false), RuntimeError);
}

TEST_CASE("recurrent layers have derivatives by input, state and parameters") {
  Tensors in = parameters(4, 1, 1);
  in.push_back(numbers({2, 1, 3}, 1));
  in.push_back(numbers({1, 1, 2}, 2));
  in.push_back(numbers({1, 1, 2}, 3));
  for (const Tensor& t : in) set_requires_grad(t);
  gradcheck(
      [](const Tensors& t) {
        const auto [output, h, c] =
            lstm(t[4], {t[5], t[6]}, {t[0], t[1], t[2], t[3]}, true, 1, 0, false, false, false);
        return Tensors{output, h, c};
      },
      in);
}

}  // namespace
}  // namespace sb
