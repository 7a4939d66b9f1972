// Attention with scores of one's own.

#include <iostream>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/higher_order/flex_attention.h"

using sb::ScorePlace;
using sb::Tensor;

int main() {
  // doc: begin
  // One head, three queries and keys, whose values are 0, 1 and 2.
  const Tensor q = sb::zeros({1, 1, 3, 2});
  const Tensor values = sb::reshape(sb::arange(3, sb::DType::Float32), {1, 1, 3, 1});
  const Tensor slopes = sb::ones({1});  // of each head
  sb::set_requires_grad(slopes);
  const auto nearer = [&](const Tensor& score, const ScorePlace& at) {
    return score + sb::index(slopes, {at.head}) * (at.key - at.query);
  };
  const auto causal = [](const ScorePlace& at) { return at.query >= at.key; };
  const sb::FlexAttentionResults attention =
      sb::flex_attention(q, q, values, {.score_mod = nearer, .mask_mod = causal});
  std::cout << sb::reshape(attention.output, {3}) << "\n"
            << sb::grad({sb::sum(attention.output)}, {slopes})[0] << "\n";
  // doc: end
}
