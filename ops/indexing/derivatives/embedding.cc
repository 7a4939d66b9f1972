#include "switchboard/ops/indexing/embedding.h"

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Of embedding_dense_backward, which is linear: what it added up is read, what it left out is 0.
Tensor dense_backward_gradient(const Tensor& grad, const InputMetadata& grad_output,
                               const Tensor& indices, const SymInt& num_weights,
                               const SymInt& padding_idx, bool scale_grad_by_freq) {
  if (num_weights.maybe_int() == 0) return new_zeros(grad, grad_output.sizes);
  const Tensor given = reshape(indices, {-1});
  const Tensor outside = logical_or(lt_Scalar(given, 0), ge_Scalar(given, num_weights));
  const Tensor places = masked_fill(given, outside, 0);
  Tensor rows = index_select(grad, 0, places);
  if (scale_grad_by_freq) {
    const Tensor ones = masked_fill(new_ones(grad, places.sym_sizes()), outside, 0);
    const Tensor counts = index_add_(new_zeros(grad, {num_weights}), 0, places, ones);
    rows = div(rows, unsqueeze(index_select(counts, 0, places), 1));
  }
  rows = masked_fill(rows, unsqueeze(outside, 1), 0);
  if (padding_idx >= 0) rows = masked_fill(rows, unsqueeze(eq_Scalar(places, padding_idx), 1), 0);
  return reshape(rows, grad_output.sizes);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, embedding,
         SB_GRAD(weight, (grad, weight_meta, indices, padding_idx, scale_grad_by_freq, sparse),
                 embedding_backward(grad, indices, weight_meta.sizes[0], padding_idx,
                                    scale_grad_by_freq, sparse)));
  derive(m, embedding_dense_backward,
         SB_GRAD(grad_output,
                 (grad, grad_output_meta, indices, num_weights, padding_idx, scale_grad_by_freq),
                 dense_backward_gradient(grad, grad_output_meta, indices, num_weights, padding_idx,
                                         scale_grad_by_freq)));
}

}  // namespace
}  // namespace sb
