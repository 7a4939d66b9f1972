// Derivatives of fused attention. What is composed of others has theirs.

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/register_autograd.h"
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

// A device's own fused attention: its gradients are the device's, too.
constexpr const char* kOverrideable = "aten::_scaled_dot_product_fused_attention_overrideable";

std::vector<Tensor> overrideable_backward(FunctionContext& ctx, const Tensor& grad,
                                          const Tensor& /*logsumexp*/, const Tensor& /*cum_seq_q*/,
                                          const Tensor& /*cum_seq_k*/, const Tensor& /*max_q*/,
                                          const Tensor& /*max_k*/, const Tensor& /*philox_seed*/,
                                          const Tensor& /*philox_offset*/,
                                          const Tensor& /*debug_attn_mask*/) {
  static const OperatorHandle op =
      default_dispatcher().find_op_or_throw(str_cat(kOverrideable, "_backward"));
  const std::vector<Tensor> saved = ctx.saved_tensors();
  std::vector<bool> wanted;
  for (size_t i = 0; i < 4; ++i) wanted.push_back(ctx.needs_input_grad(i));
  Stack stack = {IValue(grad)};
  for (size_t i = 0; i < 4; ++i) stack.emplace_back(saved[i]);
  stack.emplace_back(std::move(wanted));
  for (size_t i = 4; i < 8; ++i) stack.emplace_back(saved[i]);  // out, logsumexp, cum_seq_q, _k
  for (const char* name : {"max_q", "max_k", "dropout_p", "is_causal"})
    stack.push_back(ctx.get(name));
  for (size_t i = 8; i < 10; ++i) stack.emplace_back(saved[i]);  // philox_seed, philox_offset
  stack.push_back(ctx.get("scale"));
  op.call_boxed(&stack);
  std::vector<Tensor> gradients(7);
  for (size_t i = 0; i < 4; ++i) gradients[i] = stack[i].to_tensor();
  return gradients;
}

void overrideable_setup(FunctionContext& ctx, const CallValues& inputs,
                        const CallValues& keyword_only, const CallValues& output) {
  std::vector<Tensor> saved;
  for (const char* name : {"query", "key", "value"}) saved.push_back(inputs.tensor(name));
  const IValue& bias = inputs["attn_bias"];
  saved.push_back(bias.is_None() ? Tensor() : bias.to_tensor());
  for (const char* name :
       {"output", "logsumexp", "cum_seq_q", "cum_seq_k", "philox_seed", "philox_offset"})
    saved.push_back(output.tensor(name));
  ctx.save_for_backward(std::move(saved));
  for (const char* name : {"max_q", "max_k"}) ctx.set(name, output[name]);
  for (const char* name : {"dropout_p", "is_causal"}) ctx.set(name, inputs[name]);
  ctx.set("scale", keyword_only["scale"]);
  std::vector<Tensor> others;
  for (const char* name : {"logsumexp", "debug_attn_mask"})
    if (output.tensor(name).defined()) others.push_back(output.tensor(name));
  ctx.mark_non_differentiable(std::move(others));
}

}  // namespace

SB_LIBRARY_IMPL(aten, Autograd, m) {
  define_overrideable_attention();
  register_autograd(kOverrideable, overrideable_backward, overrideable_setup, m);
  not_differentiable(m, _fused_sdp_choice);
  derive(m, _scaled_dot_product_flash_attention_for_cpu,
         SB_GRAD((query, key, value, attn_mask),
                 (grads, query, key, value, is_causal, attn_mask, scale, output, logsumexp, needs),
                 attention_gradients(grads, query, key, value, is_causal, attn_mask, scale, output,
                                     logsumexp, needs)));
}

}  // namespace sb
