// Advanced indexing: x[i, j], and writing to it.

#ifndef SWITCHBOARD_OPS_INDEXING_INDEX_H_
#define SWITCHBOARD_OPS_INDEXING_INDEX_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// The elements of self where all indices point, broadcast together; an absent one stands for the
// whole dimension. Negative indices count from the end; a bool (or uint8) mask stands for the
// places of its true elements, in as many dimensions as it has. Throws IndexError. On meta tensors
// a mask throws DynamicOutputShapeError.
SB_OP(index, "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor");
SB_OP(index_out, out_of(index, "Tensor_out"));
// Writes `values`, broadcast, to what index would give, or adds them: then each place gets all of
// its values, in order. The dtypes are the same, but for one value that a single mask writes.
SB_OP(index_put,
      "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
      "accumulate=False) -> Tensor");
SB_OP(index_put_, inplace_of(index_put));
SB_OP(index_put_out, out_of(index_put, "out"));
// `unsafe` has no effect: indices are always checked.
SB_OP(_index_put_impl,
      "aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool "
      "accumulate=False, bool unsafe=False) -> Tensor");
SB_OP(_index_put_impl_, inplace_of(_index_put_impl));
SB_OP(_index_put_impl_out, out_of(_index_put_impl, "out"));
// Elements of self, as if it were flat, replaced by those of `source`, or increased by them.
// `index` has as many elements as source; negative ones count from the end.
SB_OP(put,
      "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
      "Tensor");
SB_OP(put_, inplace_of(put));
SB_OP(put_out, out_of(put, "out"));

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_INDEX_H_
