// Derivatives of fused attention. What is composed of others has theirs.

#include <cmath>
#include <limits>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/comparison.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/matmul.h"
#include "switchboard/ops/optional_tensor.h"
#include "switchboard/ops/reductions.h"
#include "switchboard/ops/unary.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// What a query does not look at gets a score of -infinity.
Tensor masked_scores(const Tensor& scores, const std::optional<Tensor>& mask, bool is_causal) {
  if (is_causal) {
    const Tensor seen = tril(ones({scores.sym_size(-2), scores.sym_size(-1)}, DType::Bool,
                                  std::nullopt, scores.device()));
    return masked_fill(scores, logical_not(seen), kMinusInfinity);
  }
  if (!is_given(mask)) return scores;
  if (mask->dtype() == DType::Bool) return masked_fill(scores, logical_not(*mask), kMinusInfinity);
  return add(scores, *mask);
}

// Of query, key, value and attn_mask, from the gradients of output and logsumexp. The weights are
// computed anew, all of them, from what they were normalised by and in its dtype.
std::array<Tensor, 4> attention_gradients(absl::Span<const Tensor> grads, const Tensor& given_query,
                                          const Tensor& given_key, const Tensor& given_value,
                                          bool is_causal, const std::optional<Tensor>& mask,
                                          std::optional<double> scale, const Tensor& output,
                                          const Tensor& logsumexp,
                                          const std::array<bool, 4>& needs) {
  const DType dtype = logsumexp.dtype();
  const auto wide = [&](const Tensor& t) { return t.dtype() == dtype ? t : to_dtype(t, dtype); };
  const Tensor query = wide(given_query), key = wide(given_key), value = wide(given_value);
  const double factor =
      scale.value_or(1 / std::sqrt(static_cast<double>(query.sym_size(-1).guard_int())));

  const Tensor scores = mul_Scalar(matmul(query, transpose(key, -2, -1)), factor);
  // -infinity for a query that may look at nothing: its weights are 0 by any other number.
  const Tensor finite = masked_fill(logsumexp, eq_Scalar(logsumexp, kMinusInfinity), 0);
  const Tensor weights = exp(sub(masked_scores(scores, mask, is_causal), unsqueeze(finite, -1)));

  std::array<Tensor, 4> gradients;
  Tensor by_weights;
  if (grads[0].defined()) {
    const Tensor grad = wide(grads[0]);
    if (needs[2]) gradients[2] = matmul(transpose(weights, -2, -1), grad);
    by_weights =
        sub(matmul(grad, transpose(value, -2, -1)), sum(mul(grad, wide(output)), {-1}, true));
  }
  if (!needs[0] && !needs[1] && !needs[3]) return gradients;
  if (grads[1].defined()) {
    const Tensor more = unsqueeze(grads[1], -1);
    by_weights = by_weights.defined() ? add(by_weights, more) : more;
  }
  const Tensor by_scores = mul(weights, by_weights);
  const Tensor scaled = mul_Scalar(by_scores, factor);
  if (needs[0]) gradients[0] = matmul(scaled, key);
  if (needs[1]) gradients[1] = matmul(transpose(scaled, -2, -1), query);
  if (needs[3]) gradients[3] = by_scores;
  return gradients;
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  not_differentiable(m, _fused_sdp_choice);
  derive(m, _scaled_dot_product_flash_attention_for_cpu,
         SB_GRAD((query, key, value, attn_mask),
                 (grads, query, key, value, is_causal, attn_mask, scale, output, logsumexp, needs),
                 attention_gradients(grads, query, key, value, is_causal, attn_mask, scale, output,
                                     logsumexp, needs)));
}

}  // namespace sb
