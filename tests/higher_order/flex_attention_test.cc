// Attention whose scores functions change: what it gives, in every layer.

#include "switchboard/transforms/higher_order/flex_attention.h"

#include <cmath>

#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/autocast/autocast.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/statistics/summaries.h"
#include "switchboard/tests/higher_order/regions.h"
#include "switchboard/transforms/functionalization/functional_mode.h"
#include "switchboard/transforms/functionalization/functionalize.h"

namespace sb::test {
namespace {

using Catch::Matchers::Contains;

// Numbers that look like noise, the same in every run.
Tensor noise(Sizes sizes, double seed, DType dtype = DType::Float64) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  Numbers values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(std::sin(seed + 1.7 * static_cast<double>(i * i % 97)));
  return tensor_of(sizes, values, dtype);
}

Tensor attention(const Tensors& in, const Tensor& bias, bool gqa = false) {
  return scaled_dot_product_attention(in[0], in[1], in[2], bias, 0.0, false, std::nullopt, gqa);
}

Tensor causal(const ScorePlace& at) { return at.query >= at.key; }

TEST_CASE("without functions it is attention, with the logarithm of the sums and the maxima") {
  const Tensors in{noise({2, 3, 4, 5}, 1), noise({2, 3, 6, 5}, 2), noise({2, 3, 6, 7}, 3)};
  const FlexAttentionResults got = flex_attention(in[0], in[1], in[2]);
  check_close({got.output}, {attention(in, Tensor())});
  const Tensor scores = matmul(in[0], transpose(in[1], -2, -1)) * (1 / std::sqrt(5.0));
  check_close({got.logsumexp, got.max_scores}, {logsumexp(scores, {-1}), amax(scores, {-1})});
}

TEST_CASE("a function changes scores by where they are, and a mask says which count") {
  const Tensors in{noise({2, 2, 3, 4}, 1), noise({2, 2, 3, 4}, 2), noise({2, 2, 3, 4}, 3)};
  const Tensor slopes = tensor_of({2}, {0.5, -0.25}, DType::Float64);
  const auto alibi = [&](const Tensor& score, const ScorePlace& at) {
    return score + index(slopes, {at.head}) * (at.key - at.query) + at.batch;
  };
  const Tensor i = tensor_of({3, 1}, {0, 1, 2}, DType::Float64);
  const Tensor distance = transpose(i, 0, 1) - i, past = distance <= 0;
  const Tensor bias = view(slopes, {2, 1, 1}) * distance;
  const Tensor masked = where_ScalarOther(past, bias, -INFINITY);
  check_close({flex_attention(in[0], in[1], in[2], {.score_mod = alibi}).output},
              {attention(in, bias)});
  check_close(
      {flex_attention(in[0], in[1], in[2], {.score_mod = alibi, .mask_mod = causal}).output},
      {attention(in, masked)});
}

TEST_CASE("a row of which no score counts gives 0, and its gradients are 0") {
  const Tensors leaves =
      as_leaves({noise({1, 1, 2, 2}, 1), noise({1, 1, 2, 2}, 2), noise({1, 1, 2, 2}, 3)});
  const auto later = [](const ScorePlace& at) { return at.query > at.key; };
  const FlexAttentionResults got =
      flex_attention(leaves[0], leaves[1], leaves[2], {.mask_mod = later});
  CHECK(numbers_in(got.output)[0] == 0);
  CHECK(std::isinf(numbers_in(got.logsumexp)[0]));
  const Tensors grads = grad({sum(got.output)}, leaves);
  CHECK(numbers_in(grads[0]) == Numbers{0, 0, 0, 0});  // the other row sees one key
  CHECK(numbers_in(grads[2]) == Numbers{1, 1, 0, 0});
}

TEST_CASE("heads of query may share one of key and value, and one key may serve the batch") {
  const Tensors in{noise({2, 4, 3, 2}, 1), noise({2, 2, 3, 2}, 2), noise({2, 2, 3, 2}, 3)};
  check_close({flex_attention(in[0], in[1], in[2], {.enable_gqa = true}).output},
              {attention(in, Tensor(), true)});
  const Tensors one{in[0], noise({1, 4, 3, 2}, 2), noise({1, 4, 3, 2}, 3)};
  check_close({flex_attention(one[0], one[1], one[2]).output}, {attention(one, Tensor())});
}

TEST_CASE("it is the same in every layer, and so are its gradients, of captured tensors, too") {
  const Program program = [](const Tensors& in) {
    const auto mod = [bias = in[3]](const Tensor& score, const ScorePlace& at) {
      return exp(score * 0.3) * index(bias, {at.head, at.key});
    };
    return Tensors{
        flex_attention(in[0], in[1], in[2], {.score_mod = mod, .mask_mod = causal}).output};
  };
  const Tensors inputs{noise({1, 2, 3, 2}, 1), noise({1, 2, 3, 2}, 2), noise({1, 2, 3, 2}, 3),
                       noise({2, 3}, 4)};
  const Tensors leaves = as_leaves(inputs);
  const Program plain = [](const Tensors& in) {
    const Tensor scores =
        exp(matmul(in[0], transpose(in[1], -2, -1)) * (0.3 / std::sqrt(2.0))) * unsqueeze(in[3], 1);
    const Tensor i = tensor_of({3, 1}, {0, 1, 2});
    const Tensor kept = where_ScalarOther(i >= transpose(i, 0, 1), scores, -INFINITY);
    return Tensors{matmul(softmax(kept, -1), in[2])};
  };
  const Tensors expected = plain(inputs);
  check_close(program(inputs), expected);
  run_all_ways(program, inputs);
  CHECK_THAT(trace(program, inputs).to_string(),
             Contains("flex_attention = flex_attention(flex_attention_graph, [arg0, arg1, arg2, "
                      "arg3], 0.70710678"));
  for (const Program& functional :
       {functionalize(program), FunctionalMode().functionalize(program)}) {
    check_close(functional(inputs), expected);
    CHECK_THAT(trace(functional, inputs).to_string(), Contains("flex_attention("));
  }
  for (const int order : {1, 2}) {
    const Tensors gradients = gradients_of(plain, order)(leaves);
    check_close(gradients_of(program, order)(leaves), gradients);
    check_close(gradients_of(functionalize(program), order)(leaves), gradients);
    check_close(trace(gradients_of(program, order), leaves).run(inputs), gradients);
  }
}

TEST_CASE("half of the bits gives results of that dtype, and rows in float32") {
  const Tensors in{noise({1, 1, 2, 4}, 1, DType::BFloat16), noise({1, 1, 2, 4}, 2, DType::BFloat16),
                   noise({1, 1, 2, 4}, 3, DType::BFloat16)};
  FakeTensorMode fake;
  for (const bool faked : {false, true}) {
    Tensors x = in;
    if (faked)
      for (Tensor& t : x) t = fake.from_tensor(t);
    const FlexAttentionResults got = flex_attention(x[0], x[1], x[2], {.mask_mod = causal});
    CHECK(got.output.describe() == "bfloat16[1, 1, 2, 4] on cpu");
    CHECK(got.logsumexp.describe() == "float32[1, 1, 2] on cpu");
  }
}

TEST_CASE("under autocast query, key and value are in its dtype, and the scores are not") {
  Tensors in, low;
  for (const double seed : {1, 2, 3}) {
    in.push_back(noise({1, 1, 8, 4}, seed, DType::Float32));
    low.push_back(to_dtype(in.back(), DType::BFloat16, false, false, std::nullopt));
  }
  const FlexAttentionResults expected = flex_attention(low[0], low[1], low[2]);
  const FlexAttentionResults got = [&] {
    const AutocastGuard on("cpu");
    return flex_attention(in[0], in[1], in[2],
                          {.score_mod = [](const Tensor& score, const ScorePlace&) {
                            CHECK(score.dtype() == DType::Float32);
                            return score;
                          }});
  }();
  CHECK(got.output.dtype() == DType::BFloat16);
  CHECK(got.logsumexp.dtype() == DType::Float32);
  CHECK(equal(got.output, expected.output));
  CHECK(equal(got.logsumexp, expected.logsumexp));
}

TEST_CASE("what does not fit is an error that says what was expected and what came") {
  const Tensor x = noise({1, 2, 3, 4}, 1), rest = noise({1, 2, 5, 4}, 2);
  const auto error = [&](const Tensor& q, const Tensor& k, const Tensor& v,
                         FlexAttentionOptions options = {}) {
    return message([&] { flex_attention(q, k, v, options); });
  };
  const std::string name = "ValueError: higher_order::flex_attention: ";
  CHECK_THAT(
      error(noise({3, 4}, 1), rest, rest),
      Contains(name + "expected [batch, heads, length, embedding]; got query float64[3, 4]"));
  CHECK_THAT(error(x, noise({1, 2, 5, 3}, 1), rest), Contains("of one embedding; got"));
  CHECK_THAT(error(x, rest, noise({1, 2, 4, 4}, 1)), Contains("of one batch, heads and length"));
  CHECK_THAT(error(noise({1, 4, 3, 4}, 1), rest, rest), Contains("or enable_gqa; got"));
  CHECK_THAT(error(noise({1, 3, 3, 4}, 1), rest, rest, {.enable_gqa = true}),
             Contains("a multiple of those of key"));
  CHECK_THAT(error(x, noise({2, 2, 5, 4}, 1), noise({2, 2, 5, 4}, 1)), Contains("or one for all"));
  CHECK_THAT(error(x, noise({1, 2, 5, 4}, 1, DType::Float32), rest),
             Contains("expected one floating dtype"));
  CHECK_THAT(error(x, Tensor(), rest), Contains("got an undefined one"));
  CHECK_THAT(error(x, rest, rest,
                   {.score_mod = [](const Tensor& s, const ScorePlace&) { return sum(s, {-1}); }}),
             Contains("score_mod: expected a pointwise function, whose result broadcasts to the "
                      "scores float64[1, 2, 3, 5] on cpu, got float64[1, 2, 3] on cpu"));
  CHECK_THAT(error(x, rest, rest, {.mask_mod = [](const ScorePlace& at) { return at.key; }}),
             Contains("mask_mod: expected bools, got int64[1, 2, 3, 5]"));
}

}  // namespace
}  // namespace sb::test
