// Attention with scores of one's own.

#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/transforms/higher_order/flex_attention.h"

using sb::ScorePlace;
using sb::Tensor;

int main() {
  // doc: begin
  const Tensor q = sb::ones({1, 2, 3, 4}), slopes = sb::full({2}, 0.5);  // of 2 heads
  const sb::FlexAttentionResults attention =
      sb::flex_attention(q, q, q,
                         {.score_mod =
                              [&](const Tensor& score, const ScorePlace& at) {
                                return score + sb::index(slopes, {at.head}) * (at.key - at.query);
                              },
                          .mask_mod = [](const ScorePlace& at) { return at.query >= at.key; }});
  std::cout << attention.max_scores << "\n";
  // doc: end
}
