// The attention operators of devices that are not here: what they give, for planning and tracing.

#include <cstdint>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/fake/fake_rule.h"

namespace sb::internal {
namespace {

// One attention call: sizes and what its results are made of. Query, key and value are
// [batch, length, heads, head size] here.
struct Attention {
  explicit Attention(const FakeCall& c)
      : call(c), query(c.tensor("query")), key(c.tensor("key")), value(c.tensor("value")) {
    using Named = std::pair<const char*, const Tensor*>;
    for (const auto& [name, t] :
         {Named("query", &query), Named("key", &key), Named("value", &value)}) {
      SB_CHECK(t->dim() >= 3, c.name(), ": ", name, ": expected 3 dimensions or more, got ",
               t->describe());
    }
    SB_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(), c.name(),
             ": expected query, key and value of one dtype, got ", query.describe(), ", ",
             key.describe(), " and ", value.describe());
  }

  void expect_4_dims(const char* name, const Tensor& t) const {
    SB_CHECK(t.dim() == 4, call.name(), ": ", name, ": expected 4 dimensions, got ", t.describe());
  }
  Tensor floats(SymIntArrayRef sizes) const {
    return call.empty(sizes, DType::Float32, query.device());
  }
  Tensor like_query(SymIntArrayRef sizes) const {
    return call.empty(sizes, query.dtype(), query.device());
  }
  // A number that the random generator keeps.
  Tensor philox() const { return call.empty({}, DType::Int64, query.device()); }

  const FakeCall& call;
  const Tensor query, key, value;
};

SymInt round_up(const SymInt& n, int64_t to) { return (n + (to - 1)) / to * to; }

// A tensor of the given sizes whose dimensions 1 and 2 lie in memory the other way round.
Tensor empty_transposed(const FakeCall& call, SymInt a, SymInt b, SymInt c, SymInt d, DType dtype,
                        Device device) {
  const Tensor straight = call.empty({a, c, b, d}, dtype, device);
  return call.view(straight, {a, b, c, d},
                   {straight.sym_stride(0), straight.sym_stride(2), straight.sym_stride(1),
                    straight.sym_stride(3)});
}

// The mask of dropout that return_debug_mask asks for; empty without.
Tensor debug_mask(const Attention& a, const SymInt& batch, const SymInt& heads, const SymInt& q,
                  const SymInt& k) {
  if (!a.call.argument("return_debug_mask").to_bool()) return a.like_query({0});
  // Blocks as the kernel has them.
  const SymInt head_size = a.query.sym_size(-1);
  const int64_t block = head_size > 64 ? 128 : 256;
  SymInt columns = round_up(q, block) / block;
  if (k <= 128)
    columns = 128;
  else if (k <= 256)
    columns = 256;
  return a.like_query({batch, heads, q, columns});
}

bool flash_rule(FakeCall& call) {  // [batch, heads, length, head size]
  const Attention a(call);
  a.expect_4_dims("query", a.query);
  a.expect_4_dims("key", a.key);
  const SymInt batch = a.query.sym_size(0), heads = a.query.sym_size(1), q = a.query.sym_size(2),
               size = a.query.sym_size(3), k = a.key.sym_size(2);
  const Tensor output =
      empty_transposed(call, batch, heads, q, size, a.query.dtype(), a.query.device());
  const Tensor logsumexp = a.floats({batch, heads, q});
  const Tensor mask = debug_mask(a, batch, heads, q, k);
  call.give({output, logsumexp, Tensor(), Tensor(), q, k, a.philox(), a.philox(), mask});
  return true;
}

bool efficient_rule(FakeCall& call) {  // [batch, heads, length, head size]
  const Attention a(call);
  a.expect_4_dims("query", a.query);
  a.expect_4_dims("value", a.value);
  const SymInt batch = a.query.sym_size(0), heads = a.query.sym_size(1), q = a.query.sym_size(2);
  const SymInt rows = call.argument("compute_log_sumexp").to_bool() ? round_up(q, 32) : SymInt(0);
  const Tensor output = empty_transposed(call, batch, heads, q, a.value.sym_size(3),
                                         a.query.dtype(), a.query.device());
  call.give({output, a.floats({batch, heads, rows}), a.philox(), a.philox()});
  return true;
}

bool flash_forward_rule(FakeCall& call) {  // [batch, length, heads, head size], or without batch
  const Attention a(call);
  const IValue starts_q = call.argument("cum_seq_q"), starts_k = call.argument("cum_seq_k");
  const bool packed_q = starts_q.is_Tensor() && starts_q.to_tensor().defined();
  const bool packed_k = starts_k.is_Tensor() && starts_k.to_tensor().defined();
  const SymInt batch = packed_q ? starts_q.to_tensor().sym_numel() - 1 : a.query.sym_size(0);
  const SymInt q = packed_q ? call.argument("max_q").to_sym_int() : a.query.sym_size(1);
  const SymInt k = packed_k ? call.argument("max_k").to_sym_int() : a.key.sym_size(1);
  const SymInt heads = a.query.sym_size(-2);
  const Tensor mask = debug_mask(a, batch, heads, q, k);
  call.give({a.like_query(a.query.sym_sizes()), a.floats({batch, heads, q}), a.philox(), a.philox(),
             mask});
  return true;
}

bool efficient_forward_rule(FakeCall& call) {  // [batch, length, heads, head size]
  const Attention a(call);
  a.expect_4_dims("query", a.query);
  a.expect_4_dims("value", a.value);
  const IValue starts = call.argument("cu_seqlens_q"), longest_q = call.argument("max_seqlen_q"),
               longest_k = call.argument("max_seqlen_k");
  const bool packed = starts.is_Tensor() && starts.to_tensor().defined();
  if (packed) {
    SB_CHECK(starts.to_tensor().dim() > 0, call.name(),
             ": cu_seqlens_q: expected a dimension or more, got ", starts.to_tensor().describe());
    SB_CHECK(!longest_q.is_None(), call.name(),
             ": max_seqlen_q: expected a number beside cu_seqlens_q, got None");
  }
  const SymInt batch = a.query.sym_size(0), length = a.query.sym_size(1);
  const SymInt heads = a.query.sym_size(2);
  const SymInt q = packed ? longest_q.to_sym_int() : length;
  const SymInt k = longest_k.is_None() ? a.key.sym_size(1) : longest_k.to_sym_int();
  const SymInt rows = call.argument("compute_log_sumexp").to_bool() ? round_up(q, 32) : SymInt(0);
  const SymInt sequences = packed ? starts.to_tensor().sym_size(0) - 1 : batch;
  call.give({a.like_query({batch, length, heads, a.value.sym_size(3)}),
             a.floats({sequences, heads, rows}), a.philox(), a.philox(), q, k});
  return true;
}

SB_LIBRARY_FRAGMENT(aten, m) {
  constexpr Tag draws = Tag::nondeterministic_seeded;  // with dropout
  m.define(
      "_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float "
      "dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> "
      "(Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt "
      "max_k, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)",
      draws);
  m.define(
      "_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? "
      "scale=None) -> (Tensor output, Tensor log_sumexp, Tensor philox_seed, Tensor "
      "philox_offset)",
      draws);
  m.define(
      "_flash_attention_forward(Tensor query, Tensor key, Tensor value, Tensor? cum_seq_q, Tensor? "
      "cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, bool "
      "return_debug_mask, *, float? scale=None, SymInt? window_size_left=None, SymInt? "
      "window_size_right=None, Tensor? seqused_k=None, Tensor? alibi_slopes=None, Tensor? "
      "block_table=None, int? num_splits=None) -> (Tensor output, Tensor softmax_logsumexp, Tensor "
      "rng_state, Tensor unused, Tensor debug_attn_mask)",
      draws);
  m.define(
      "_efficient_attention_forward(Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor? "
      "cu_seqlens_q, Tensor? cu_seqlens_k, SymInt? max_seqlen_q, SymInt? max_seqlen_k, float "
      "dropout_p, int custom_mask_type, bool compute_log_sumexp=False, *, float? scale=None, "
      "Tensor? seqlen_k=None, int? window_size=None) -> (Tensor output, Tensor logsumexp, Tensor "
      "philox_seed, Tensor philox_offset, SymInt max_seqlen_batch_q, SymInt max_seqlen_batch_k)",
      draws);
}

[[maybe_unused]] const bool attention_registered = [] {
  register_fake_rule("aten::_scaled_dot_product_flash_attention", flash_rule).release();
  register_fake_rule("aten::_scaled_dot_product_efficient_attention", efficient_rule).release();
  register_fake_rule("aten::_flash_attention_forward", flash_forward_rule).release();
  register_fake_rule("aten::_efficient_attention_forward", efficient_forward_rule).release();
  return true;
}();

}  // namespace
}  // namespace sb::internal
