// The strides of a tensor that is made after another one.

#ifndef SWITCHBOARD_OPS_SHAPE_MEMORY_FORMAT_H_
#define SWITCHBOARD_OPS_SHAPE_MEMORY_FORMAT_H_

#include "absl/container/inlined_vector.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/shape/by_size.h"

namespace sb {

// ChannelsLast or ChannelsLast3d where the order of the strides says so, gaps or not, else
// Contiguous. As `Tensor.suggest_memory_format`. Symbolic sizes stay symbols, and are asked about
// only where the strides do not say it for all sizes.
MemoryFormat suggest_memory_format(const Tensor& t);

// The strides of a dense tensor of these sizes in a channels-last format, for a BasicTensorMeta:
// none for Contiguous. Throws RuntimeError for sizes of another rank than the format's, and for
// ones of more bytes than int64 holds.
template <SizeType Int>
SizeVector<Int> strides_in_format(SizesRef<Int> sizes, MemoryFormat format);

// The dimensions in the order in which the strides of a new tensor like this one grow, fastest
// first: by their strides, and by their place where those do not decide (expanded dimensions).
absl::InlinedVector<size_t, 5> dims_by_stride(IntArrayRef sizes, IntArrayRef strides);
// The strides of a dense tensor of these sizes whose dimensions lie in the order of the given
// strides. As `at::infer_dense_strides`.
absl::InlinedVector<int64_t, 5> infer_dense_strides(IntArrayRef sizes, IntArrayRef strides);
// The strides that `torch.empty_like` gives: those of t where it is dense, else inferred.
absl::InlinedVector<int64_t, 5> empty_like_strides(const Tensor& t);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_SHAPE_MEMORY_FORMAT_H_
