// Attention: softmax(query @ key^T * scale + mask) @ value.

#ifndef SWITCHBOARD_OPS_ATTENTION_ATTENTION_H_
#define SWITCHBOARD_OPS_ATTENTION_ATTENTION_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// query (*, l, e), key (*, s, e) and value (*, s, v) give (*, l, v), as
// `torch.nn.functional.scaled_dot_product_attention`. scale is 1 / sqrt(e) unless given. attn_mask
// broadcasts to (*, l, s): a bool mask is true where a query may look, any other is added.
// is_causal lets query i look at keys 0 to i, and takes no other mask. With enable_gqa, several
// heads (the dimension before the last two) of query share one of key and value. Runs the fused
// operator that _fused_sdp_choice names for the device, or composes others. RuntimeError for
// shapes, dtypes or masks that do not fit.
SB_OP(scaled_dot_product_attention,
      "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool "
      "enable_gqa=False) -> Tensor");

// The same with PyTorch 1.13's schemas: results are the output and the weights (*, l, s).
SB_OP(_scaled_dot_product_attention,
      "aten::_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0., bool need_attn_weights=False, bool is_causal=False) -> "
      "(Tensor, Tensor)");
SB_OP(_scaled_dot_product_attention_forward,
      "aten::_scaled_dot_product_attention_forward(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0., bool need_attn_weights=False, bool is_causal=False) -> "
      "(Tensor, Tensor)");
// The composition of other operators that scaled_dot_product_attention is where nothing is fused:
// the output and the weights. dropout_mask: the weights that stay, instead of random ones.
// Unlike there, attn_mask is added as it is, also one of bool.
SB_OP(_scaled_dot_product_attention_math,
      "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, "
      "float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)");

// Which operator computes attention on the tensors' device: a number of SdpBackend. A device
// registers its own.
enum class SdpBackend : int64_t {
  Math = 0,
  Flash = 1,
  Efficient = 2,
  Cudnn = 3,
  Overrideable = 4,
};
SB_OP(_fused_sdp_choice,
      "aten::_fused_sdp_choice(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
      "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> "
      "int");

// The CPU's fused attention: query (b, h, l, e), key and value (b, h, s, e), of one floating-point
// dtype; several heads of query may share one of key and value. Holds the weights of no more than
// 64 queries and 512 keys per thread. Results are the output, laid out as the query, and the
// logarithm of the sum of exponentials of each row, (b, h, l), laid out as (b, l, h), in float32 or
// float64. RuntimeError for dropout. attn_mask has no derivative.
SB_OP(_scaled_dot_product_flash_attention_for_cpu,
      "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
      "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> "
      "(Tensor output, Tensor logsumexp)");
// The gradients of query, key and value from that of the output, laid out as (b, l, h, e). The
// weights are computed anew, all of them, from what they were normalised by and in its dtype.
SB_OP(_scaled_dot_product_flash_attention_for_cpu_backward,
      "aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, "
      "Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, "
      "Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor "
      "grad_value)");

// A device with fused attention of its own registers
// _scaled_dot_product_fused_attention_overrideable, and _fused_sdp_choice to name it; it has nine
// results, hence no handle. NotImplementedError where no device did. Its gradients are those that
// the device registers as _scaled_dot_product_fused_attention_overrideable_backward. Both are there
// after the first call of this function, and in any case before main: for static objects that need
// their schemas.
void define_overrideable_attention();

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ATTENTION_ATTENTION_H_
