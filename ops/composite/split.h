// A tensor cut into views along one dimension: the relatives of split and chunk.

#ifndef SWITCHBOARD_OPS_COMPOSITE_SPLIT_H_
#define SWITCHBOARD_OPS_COMPOSITE_SPLIT_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// Into that many parts of nearly equal size, the first ones larger by 1; or before each of the
// indices, which are taken as slice takes them. Either may be in a tensor of int64, 0-dim or 1-dim.
SB_OP(tensor_split_sections,
      "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> "
      "Tensor(a)[]");
SB_OP(tensor_split_indices,
      "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> "
      "Tensor(a)[]");
SB_OP(tensor_split_tensor,
      "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, "
      "Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]");

// The same along the first dimension (vsplit), the second (hsplit; the only one of a vector) and
// the third (dsplit). The number of parts must divide the size.
SB_OP(hsplit, "aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]");
SB_OP(hsplit_array, "aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]");
SB_OP(vsplit, "aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]");
SB_OP(vsplit_array, "aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]");
SB_OP(dsplit, "aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]");
SB_OP(dsplit_array, "aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]");

// split and chunk whose parts do not count each other's writes: share memory, and no version.
SB_OP(unsafe_split,
      "aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]");
SB_OP(unsafe_split_with_sizes,
      "aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]");
SB_OP(unsafe_chunk, "aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COMPOSITE_SPLIT_H_
