// Advanced indexing: x[i, j], and writing to it.

#ifndef SWITCHBOARD_OPS_INDEXING_INDEX_H_
#define SWITCHBOARD_OPS_INDEXING_INDEX_H_

#include "switchboard/ops/define/derived_schema.h"

namespace sb {

// The elements of self where all indices point, broadcast together; an absent one stands for the
// whole dimension. Negative indices count from the end; a bool (or uint8) mask stands for the
// places of its true elements, in as many dimensions as it has. Throws IndexError. On meta tensors
// a mask throws DynamicOutputShapeError.
SB_STRUCTURED_NO_INPLACE(index, "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                         "Tensor_out");
// Writes `values`, broadcast, to what index would give, or adds them: then each place gets all of
// its values, in order. The dtypes are the same, but for one value that a single mask writes.
SB_STRUCTURED(index_put,
              "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
              "accumulate=False) -> Tensor",
              "out");
// `unsafe` has no effect: indices are always checked.
SB_STRUCTURED(_index_put_impl,
              "aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool "
              "accumulate=False, bool unsafe=False) -> Tensor",
              "out");
// Elements of self, as if it were flat, replaced by those of `source`, or increased by them.
// `index` has as many elements as source; negative ones count from the end.
SB_STRUCTURED(put,
              "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> "
              "Tensor",
              "out");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_INDEX_H_
