// Attention whose scores a function changes.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FLEX_ATTENTION_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FLEX_ATTENTION_H_

#include <functional>
#include <optional>

#include "switchboard/transforms/higher_order/base_hop.h"

namespace sb {

// `higher_order::flex_attention(attention, operands, scale)`: a Callable of query, key and value
// that gives the output, the logarithm of the sum of exponentials and the greatest score of each
// row; these three tensors; and the scale, a float.
const higher_order::BaseHop& flex_attention_hop();

// Integer tensors that broadcast to the scores, [batch, heads, queries, keys]: where a score is.
struct ScorePlace {
  Tensor batch, head, query, key;
};

struct FlexAttentionOptions {
  // New scores from the scaled ones. They may read captured tensors at a place:
  // index(bias, {at.head}). null: the scores themselves.
  std::function<Tensor(const Tensor& score, const ScorePlace& at)> score_mod = nullptr;
  // Bools, whether a score counts. null: all do.
  std::function<Tensor(const ScorePlace& at)> mask_mod = nullptr;
  std::optional<double> scale = {};  // nullopt: 1 / sqrt(embedding)
  bool enable_gqa = false;           // a key and value head may serve several query heads
};

struct FlexAttentionResults {
  Tensor output;     // [batch, query heads, queries, embedding of value]
  Tensor logsumexp;  // [batch, query heads, queries], of the changed scores; float32, or float64
  Tensor max_scores;
};

// softmax(score_mod(query key^T scale)) value, over [batch, heads, length, embedding] each; a row
// of which no score counts gives 0. As `torch.nn.attention.flex_attention.flex_attention` without a
// block mask's blocks: all scores are computed, in float32, or float64 of float64, a matrix of
// [queries, keys] for each batch and head. Functions get all scores at once and must be pointwise,
// where PyTorch maps them over single ones; what they give must broadcast to the scores
// (RuntimeError). Gradients reach query, key, value and what the functions capture. Under autocast
// query, key and value are in its dtype, and the scores as always. Throws
// ValueError for other numbers of dimensions, and for sizes, dtypes or devices that do not fit.
FlexAttentionResults flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    FlexAttentionOptions options = {});

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FLEX_ATTENTION_H_
