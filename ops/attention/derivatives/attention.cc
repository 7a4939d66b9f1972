// Derivatives of fused attention. What is composed of others has theirs.

#include "switchboard/ops/attention/attention.h"

#include <array>
#include <utility>
#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/autograd/register_autograd.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/ops/attention/flash_backward.h"
#include "switchboard/ops/shape/optional_tensor.h"

namespace sb {
namespace {

// Fused attention has no derivative by a mask.
int64_t choose_recorded(DispatchKeySet keys, const Tensor& query, const Tensor& key,
                        const Tensor& value, const std::optional<Tensor>& mask, double dropout_p,
                        bool is_causal, std::optional<double> scale, bool enable_gqa) {
  if (is_given(mask) && requires_grad(*mask)) return static_cast<int64_t>(SdpBackend::Math);
  return _fused_sdp_choice.redispatch(internal::keys_below_recording(keys), query, key, value, mask,
                                      dropout_p, is_causal, scale, enable_gqa);
}

// The mask may settle the choice.
const ExplainKernels explain_choice(DispatchKey::Autograd, [](CallPath& path, const PathCall& c) {
  if (c.op == _fused_sdp_choice.handle()) {
    const IValue& mask = c.arguments[c.arguments.size() - c.op.schema().arguments.size() + 3];
    if (mask.is_Tensor() && mask.to_tensor().defined() && requires_grad(mask.to_tensor())) return;
    return path.enter(c.op, internal::keys_below_recording(c.keys), c.arguments);
  }
  const internal::BelowRecordingGuard below;
  path.enter(c.op, internal::keys_below_recording(c.keys), c.arguments);
});

std::array<Tensor, 3> flash_gradients(const Tensor& grad, const Tensor& query, const Tensor& key,
                                      const Tensor& value, double dropout_p, bool is_causal,
                                      const std::optional<Tensor>& mask,
                                      std::optional<double> scale, const Tensor& output,
                                      const Tensor& logsumexp) {
  if (!grad.defined()) return {};
  // A gradient that is derived again must see what logsumexp was computed of: it has no history.
  const Tensor sums = is_grad_enabled() ? internal::traceable_logsumexp(query, key, is_causal, mask,
                                                                        scale, logsumexp)
                                        : logsumexp;
  auto [by_query, by_key, by_value] = _scaled_dot_product_flash_attention_for_cpu_backward(
      grad, query, key, value, output, sums, dropout_p, is_causal, mask, scale);
  return {std::move(by_query), std::move(by_key), std::move(by_value)};
}

[[noreturn]] Tensor no_mask_gradient() {
  SB_THROW(RuntimeError, _scaled_dot_product_flash_attention_for_cpu.name(),
           ": argument attn_mask: expected one that requires no gradient, as there is no "
           "derivative by it");
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
  derive(
      m, _scaled_dot_product_flash_attention_for_cpu,
      SB_GRAD((query, key, value),
              (grad0, query, key, value, dropout_p, is_causal, attn_mask, scale, output, logsumexp),
              flash_gradients(grad0, query, key, value, dropout_p, is_causal, attn_mask, scale,
                              output, logsumexp)),
      SB_GRAD(attn_mask, (grad0), no_mask_gradient()));
}

// A device's own fused attention may have a derivative by its mask.
SB_LIBRARY_IMPL(aten, AutogradCPU, m) { m.impl(_fused_sdp_choice, choose_recorded); }
SB_LIBRARY_IMPL(aten, AutogradMeta, m) { m.impl(_fused_sdp_choice, choose_recorded); }
// Of a device that is not here, fake tensors tell what the CPU would do.
SB_LIBRARY_IMPL(aten, AutogradCUDA, m) { m.impl(_fused_sdp_choice, choose_recorded); }
SB_LIBRARY_IMPL(aten, AutogradXPU, m) { m.impl(_fused_sdp_choice, choose_recorded); }

}  // namespace sb
