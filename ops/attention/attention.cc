#include "switchboard/ops/attention/attention.h"

#include <cmath>
#include <limits>
#include <new>
#include <tuple>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/attention/shared_heads.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/triangles.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_inputs(const char* op, const Tensor& query, const Tensor& key, const Tensor& value,
                  const std::optional<Tensor>& mask, bool is_causal) {
  for (const Tensor* t : {&query, &key, &value}) {
    check_defined(op, *t);
    SB_CHECK(t->dim() >= 2, op, ": expected at least 2 dimensions, got ", t->describe());
  }
  SB_CHECK(!is_causal || !mask, op, ": is_causal goes without attn_mask");
}

std::optional<Tensor> given(const std::optional<Tensor>& mask) {
  return is_given(mask) ? mask : std::nullopt;
}

// A bool mask as one that is added.
Tensor added_mask(const Tensor& mask, const Tensor& like) {
  if (mask.dtype() != DType::Bool) return mask;
  return masked_fill(zeros(mask.sym_sizes(), like.dtype(), std::nullopt, mask.device()),
                     logical_not(mask), kMinusInfinity);
}
// The root of the last size: a number, or a symbol where that is one.
SymFloat root_of_embedding(const Tensor& query) { return sym_sqrt(sym_float(query.sym_size(-1))); }

Tensor causal_mask(const Tensor& query, const Tensor& key) {
  return tril(
      ones({query.sym_size(-2), key.sym_size(-2)}, DType::Bool, std::nullopt, query.device()));
}

// Which weights are left out: some by chance, or those that a mask does not have.
struct Dropout {
  double p = 0;
  std::optional<Tensor> mask;
};

// The output and the weights. A query that may look at nothing gives NaN, unless zero_if_masked.
std::tuple<Tensor, Tensor> attend(const Tensor& scaled_query, const Tensor& key,
                                  const Tensor& value, const std::optional<Tensor>& mask,
                                  const Dropout& left_out, bool zero_if_masked) {
  const Tensor scores = matmul(scaled_query, transpose(key, -2, -1));
  // In place: the scores keep their dtype, whatever that of the mask.
  if (mask) add_(scores, *mask);
  Tensor weights = zero_if_masked ? _safe_softmax(scores, -1) : softmax(scores, -1);
  if (left_out.p > 0 && left_out.mask) {
    weights = masked_fill(weights, logical_not(*left_out.mask), 0.0);
    return {matmul(weights, mul_Scalar(value, 1 / (1 - left_out.p))), weights};
  }
  if (left_out.p > 0) weights = dropout(weights, left_out.p, true);
  return {matmul(weights, value), weights};
}

std::tuple<Tensor, Tensor> attention_with_weights(const Tensor& query, const Tensor& key,
                                                  const Tensor& value,
                                                  const std::optional<Tensor>& attn_mask,
                                                  double dropout_p, bool, bool is_causal) {
  std::optional<Tensor> mask = given(attn_mask);
  check_inputs("_scaled_dot_product_attention", query, key, value, mask, is_causal);
  if (is_causal) mask = causal_mask(query, key);
  if (mask) mask = added_mask(*mask, query);
  const Tensor scaled = div_Scalar(query, root_of_embedding(query));
  return attend(scaled, key, value, mask, {dropout_p, std::nullopt}, /*zero_if_masked=*/false);
}

constexpr const char* kOverrideable = "aten::_scaled_dot_product_fused_attention_overrideable";

Tensor overrideable(const Tensor& query, const Tensor& key, const Tensor& value,
                    const std::optional<Tensor>& mask, double dropout_p, bool is_causal,
                    std::optional<double> scale) {
  static const OperatorHandle op = default_dispatcher().find_op_or_throw(kOverrideable);
  Stack stack = {IValue(query),     IValue(key),       IValue(value), IValue(),
                 IValue(dropout_p), IValue(is_causal), IValue(false), IValue()};
  if (mask) stack[3] = IValue(added_mask(*mask, query));
  if (scale) stack[7] = IValue(*scale);
  op.call_boxed(&stack);
  return stack[0].to_tensor();
}

// Three dimensions are those of one batch.
Tensor run_flash(const Tensor& query, const Tensor& key, const Tensor& value,
                 const std::optional<Tensor>& mask, double dropout_p, bool is_causal,
                 std::optional<double> scale) {
  if (query.dim() == 4) {
    return std::get<0>(_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p,
                                                                   is_causal, mask, scale));
  }
  const auto batch = [](const Tensor& t) { return unsqueeze(t, 0); };
  return squeeze_dim(
      run_flash(batch(query), batch(key), batch(value), mask, dropout_p, is_causal, scale), 0);
}

Tensor with_shared_heads(const Tensor& t, const Tensor& query, bool enable_gqa) {
  const bool shares_heads = enable_gqa && query.dim() >= 3 && t.dim() >= 3;
  return shares_heads ? internal::repeat_heads(t, query) : t;
}

// 16-bit numbers are rounded once.
Tensor widened(const Tensor& t) {
  const bool is_narrow = t.dtype() == DType::Float16 || t.dtype() == DType::BFloat16;
  return is_narrow ? to_dtype(t, DType::Float32) : t;
}

std::tuple<Tensor, Tensor> attention_math(const Tensor& query_given, const Tensor& key_given,
                                          const Tensor& value_given,
                                          const std::optional<Tensor>& attn_mask, double dropout_p,
                                          bool is_causal, const std::optional<Tensor>& dropout_mask,
                                          std::optional<double> scale, bool enable_gqa) {
  std::optional<Tensor> mask = given(attn_mask);
  check_inputs("_scaled_dot_product_attention_math", query_given, key_given, value_given, mask,
               is_causal);
  const Tensor query = widened(query_given);
  const Tensor key = widened(with_shared_heads(key_given, query, enable_gqa));
  const Tensor value = widened(with_shared_heads(value_given, query, enable_gqa));
  if (is_causal) mask = added_mask(causal_mask(query, key), query);
  const bool is_negative = scale.value_or(0) < 0;
  const SymFloat factor =
      scale ? SymFloat(std::abs(*scale)) : SymFloat(1.0) / root_of_embedding(query);
  // Half of it for each side, lest products overflow.
  const SymFloat root = sym_sqrt(factor);
  const auto [output, weights] =
      attend(mul_Scalar(query, is_negative ? -root : root), mul_Scalar(key, root), value, mask,
             {dropout_p, given(dropout_mask)}, /*zero_if_masked=*/true);
  if (query.dtype() == query_given.dtype()) return {output, weights};
  return {to_dtype(output, query_given.dtype()), to_dtype(weights, query_given.dtype())};
}

Tensor sdpa(const Tensor& query, const Tensor& key_given, const Tensor& value_given,
            const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
            std::optional<double> scale, bool enable_gqa) {
  std::optional<Tensor> mask = given(attn_mask);
  check_inputs("scaled_dot_product_attention", query, key_given, value_given, mask, is_causal);
  for (const Tensor* t : {&key_given, &value_given}) {
    SB_CHECK(t->dtype() == query.dtype(),
             "scaled_dot_product_attention: expected query, key and value of one dtype, got ",
             query.describe(), " and ", t->describe());
  }
  SB_CHECK(!mask || mask->dtype() == DType::Bool || mask->dtype() == query.dtype() ||
               mask->dtype() == DType::Float32,
           "scaled_dot_product_attention: attn_mask: expected bool or ", to_string(query.dtype()),
           ", got ", mask->describe());
  switch (static_cast<SdpBackend>(_fused_sdp_choice(query, key_given, value_given, mask, dropout_p,
                                                    is_causal, scale, enable_gqa))) {
    case SdpBackend::Flash:
      return run_flash(query, key_given, value_given, mask, dropout_p, is_causal, scale);
    case SdpBackend::Overrideable:
      return overrideable(query, with_shared_heads(key_given, query, enable_gqa),
                          with_shared_heads(value_given, query, enable_gqa), mask, dropout_p,
                          is_causal, scale);
    default:
      if (mask) mask = added_mask(*mask, query);
      return std::get<0>(attention_math(query, key_given, value_given, mask, dropout_p, is_causal,
                                        std::nullopt, scale, enable_gqa));
  }
}

}  // namespace

void define_overrideable_attention() {
  // Never destroyed, in memory that a leak checker sees.
  alignas(Library) static unsigned char memory[sizeof(Library)];
  [[maybe_unused]] static const Library& library = []() -> Library& {
    auto& m = *new (memory) Library(Library::Kind::Fragment, "aten");
    m.define(
        "aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor "
        "value, Tensor? attn_bias=None, float dropout_p=0.0, bool is_causal=False, bool "
        "return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, "
        "Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, "
        "Tensor philox_offset, Tensor debug_attn_mask)",
        Tag::nondeterministic_seeded);
    m.impl(kOverrideable, DispatchKey::CompositeExplicitAutograd,
           [](const OperatorHandle& op, DispatchKeySet, Stack*) {
             SB_THROW(NotImplementedError, op.schema().name.name,
                      ": no device registered a kernel");
           });
    m.define(
        "aten::_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor "
        "query, Tensor key, Tensor value, Tensor attn_bias, bool[4] grad_input_mask, Tensor out, "
        "Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float "
        "dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? "
        "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor "
        "grad_attn_bias)");
    return m;
  }();
}

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, scaled_dot_product_attention, Tag::nondeterministic_seeded).composed(sdpa);
  define(m, _scaled_dot_product_attention, Tag::nondeterministic_seeded)
      .composed(attention_with_weights);
  define(m, _scaled_dot_product_attention_forward, Tag::nondeterministic_seeded)
      .composed(attention_with_weights);
  define(m, _scaled_dot_product_attention_math, Tag::nondeterministic_seeded)
      .composed(attention_math);
  define_overrideable_attention();
}

}  // namespace sb
