// Rows of a table, chosen by indices, and bags of them.

#ifndef SWITCHBOARD_OPS_INDEXING_EMBEDDING_H_
#define SWITCHBOARD_OPS_INDEXING_EMBEDDING_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The rows of the matrix `weight` that `indices` (int32 or int64, any shape) name. The other
// arguments are for the derivative. IndexError for an index out of range.
SB_OP(embedding,
      "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
      "scale_grad_by_freq=False, bool sparse=False) -> Tensor");
SB_OP(embedding_out, out_of(embedding, "out"));
// The gradient of weight: the rows of grad, added up where `indices` name one row, the rows for
// padding_idx left out; divided by how often the index occurs with scale_grad_by_freq. Indices out
// of range do not count, as in PyTorch.
SB_OP(embedding_dense_backward,
      "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt "
      "num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor");
SB_OP(embedding_dense_backward_out, out_of(embedding_dense_backward, "out"));
// The same; `sparse` gradients are not implemented.
SB_OP(
    embedding_backward,
    "aten::embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, "
    "bool scale_grad_by_freq, bool sparse) -> Tensor");
// self with the rows that `indices` name scaled down to the norm `max_norm`, where theirs is
// larger.
SB_OP(embedding_renorm,
      "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) "
      "-> Tensor");
SB_OP(embedding_renorm_, inplace_of(embedding_renorm));
SB_OP(embedding_renorm_out, out_of(embedding_renorm, "out"));

// Rows combined by bags: bag i is those of the vector `indices` from offsets[i] up to the next
// offset. `mode` is 0 for sum, 1 for mean, 2 for max; indices equal to padding_idx do not count;
// per_sample_weights (sum only) has a factor for each index; with include_last_offset the last
// offset is the end of the last bag. Gives the bags, the bag of each index, how many indices each
// bag has, and for max which row each element came from. What the derivative does not need may be
// empty, as in PyTorch. RuntimeError for offsets and indices out of range.
SB_OP(_embedding_bag,
      "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
      "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
      "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)");
SB_OP(_embedding_bag_forward_only,
      "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
      "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
      "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)");
SB_OP(embedding_bag,
      "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
      "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
      "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)");
// A negative padding_idx counts from the end.
SB_OP(embedding_bag_padding_idx,
      "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
      "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
      "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)");

// The gradients of weight and of per_sample_weights, from that of the bags and the other results.
SB_OP(_embedding_bag_dense_backward,
      "aten::_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor "
      "bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, "
      "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor");
SB_OP(_embedding_bag_backward,
      "aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor "
      "offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool "
      "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, int padding_idx=-1) "
      "-> Tensor");
SB_OP(
    _embedding_bag_per_sample_weights_backward,
    "aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, "
    "Tensor offsets, Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_EMBEDDING_H_
