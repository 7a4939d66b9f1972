// Derivatives of embedding_bag and of its gradients.

#include "switchboard/autograd/derivatives.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/bags.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index_along.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

Tensor weight_gradient(const Tensor& grad, const InputMetadata& weight, const Tensor& indices,
                       const Tensor& offsets, const Tensor& offset2bag, const Tensor& bag_size,
                       const Tensor& maximum_indices, bool scale_grad_by_freq, int64_t mode,
                       bool sparse, const std::optional<Tensor>& per_sample_weights,
                       int64_t padding_idx) {
  return _embedding_bag_backward(grad, contiguous(indices), contiguous(offsets), offset2bag,
                                 bag_size, maximum_indices, weight.sizes[0], scale_grad_by_freq,
                                 mode, sparse, per_sample_weights, padding_idx);
}

// The two gradients are sums over the indices: what belongs to each of them.
struct Samples {
  Tensor rows;  // of weight, int64
  Tensor bags;  // int64
  int64_t padding_idx;

  Samples(const Tensor& indices, const Tensor& offset2bag, int64_t padding)
      : rows(to_dtype(indices, DType::Int64)),
        bags(to_dtype(narrow(offset2bag, 0, 0, indices.sym_size(0)), DType::Int64)),
        padding_idx(padding) {}

  // Numbers, one for each of the indices, with 0 for the padding.
  Tensor without_padding(const Tensor& numbers) const {
    return padding_idx < 0 ? numbers : masked_fill(numbers, eq_Scalar(rows, padding_idx), 0);
  }
};

Tensor times(const Tensor& rows, const Tensor& factors) { return mul(rows, unsqueeze(factors, 1)); }

// Of _embedding_bag_dense_backward: bags of the rows of its result's gradient.
struct DenseBackward {
  const Tensor& grad;
  const Tensor& bag_size;
  const Tensor& maximum_indices;
  SymInt num_weights;
  bool scale_grad_by_freq;
  int64_t mode;

  // Of the largest elements.
  Tensor picked(const Tensor& grad0) const {
    const Tensor taken = gather(grad0, 0, to_dtype(maximum_indices, DType::Int64));
    return masked_fill(taken, unsqueeze(eq_Scalar(bag_size, 0), 1), 0);
  }
  // What each index's row of grad is multiplied by, the weights of samples aside.
  Tensor factors(const Samples& samples) const {
    Tensor factors = samples.without_padding(new_ones(grad, samples.rows.sym_sizes()));
    if (scale_grad_by_freq) {
      const Tensor counts = index_add_(new_zeros(grad, {num_weights}), 0, samples.rows, factors);
      factors = div(factors, clamp_min(index_select(counts, 0, samples.rows), 1));
    }
    if (mode != BagMode::kMean) return factors;
    const Tensor sizes = index_select(bag_size, 0, samples.bags);
    return div(factors, masked_fill(sizes, eq_Scalar(sizes, 0), 1));
  }
};

std::array<Tensor, 2> dense_backward_gradients(const DenseBackward& call, const Tensor& grad0,
                                               const Tensor& indices, const Tensor& offset2bag,
                                               const std::optional<Tensor>& per_sample_weights,
                                               int64_t padding_idx,
                                               const std::array<bool, 2>& needs) {
  if (call.mode == BagMode::kMax) return {call.picked(grad0), Tensor()};
  const Samples samples(indices, offset2bag, padding_idx);
  const Tensor factors = call.factors(samples);
  const Tensor rows = index_select(grad0, 0, samples.rows);
  std::array<Tensor, 2> grads;
  if (needs[0]) {
    Tensor all = factors;
    if (is_given(per_sample_weights))
      all = mul(all, narrow(*per_sample_weights, 0, 0, samples.rows.sym_size(0)));
    grads[0] = index_add_(zeros_like(call.grad), 0, samples.bags, times(rows, all));
  }
  if (needs[1]) {
    const Tensor products = mul(rows, index_select(call.grad, 0, samples.bags));
    const Tensor sums = mul(sum(products, {1}), factors);
    // There may be more weights than samples.
    const Tensor none = new_zeros(sums, {per_sample_weights->sym_size(0) - sums.sym_size(0)});
    grads[1] = cat({sums, none}, 0);
  }
  return grads;
}

// Of _embedding_bag_per_sample_weights_backward: products of rows of grad and of weight.
std::array<Tensor, 2> sample_weights_gradients(const Tensor& grad0, const Tensor& grad,
                                               const Tensor& weight, const Tensor& indices,
                                               const Tensor& offsets, const Tensor& offset2bag,
                                               int64_t padding_idx,
                                               const std::array<bool, 2>& needs) {
  Tensor bags = offset2bag;
  const SymInt count = indices.sym_numel();
  if (asked_or_false(offset2bag.sym_numel() == 0) && !asked_or_false(count == 0)) {
    const Tensor end = new_full(offsets, {1}, count);
    const Tensor sizes =
        sub(cat({narrow(offsets, 0, 1, offsets.sym_size(0) - 1), end}, 0), offsets);
    bags = repeat_interleave_Tensor(sizes, count);
  }
  const Samples samples(indices, bags, padding_idx);
  const Tensor factors = samples.without_padding(grad0);
  std::array<Tensor, 2> grads;
  if (needs[0]) {
    grads[0] = index_add_(zeros_like(grad), 0, samples.bags,
                          times(index_select(weight, 0, samples.rows), factors));
  }
  if (needs[1]) {
    grads[1] = index_add_(zeros_like(weight), 0, samples.rows,
                          times(index_select(grad, 0, samples.bags), factors));
  }
  return grads;
}

// One of the two forms. They keep the same, but for the sizes of bags that are sums, which no
// gradient reads.
template <class Tag>
void derive_bags(Library& m, const Op<Tag>& op) {
  derive(
      m, op,
      SB_GRAD(weight,
              (grad, weight_meta, indices, offsets, result1, result2, result3, scale_grad_by_freq,
               mode, sparse, per_sample_weights, padding_idx),
              weight_gradient(grad, weight_meta, indices, offsets, result1, result2, result3,
                              scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx)),
      SB_GRAD(per_sample_weights, (grad, weight, indices, offsets, result1, mode, padding_idx),
              _embedding_bag_per_sample_weights_backward(grad, weight, contiguous(indices), offsets,
                                                         result1, mode, padding_idx)));
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive_bags(m, _embedding_bag);
  derive_bags(m, _embedding_bag_forward_only);
  derive(m, _embedding_bag_dense_backward,
         SB_GRAD((grad, per_sample_weights),
                 (grad0, grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
                  scale_grad_by_freq, mode, per_sample_weights, padding_idx, needs),
                 dense_backward_gradients(
                     {grad, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode},
                     grad0, indices, offset2bag, per_sample_weights, padding_idx, needs)));
  derive(m, _embedding_bag_per_sample_weights_backward,
         SB_GRAD((grad, weight),
                 (grad0, grad, weight, indices, offsets, offset2bag, padding_idx, needs),
                 sample_weights_gradients(grad0, grad, weight, indices, offsets, offset2bag,
                                          padding_idx, needs)));
}

}  // namespace
}  // namespace sb
