// Elements repeated where they are, and numbers as unit vectors.

#ifndef SWITCHBOARD_OPS_INDEXING_REPEAT_INTERLEAVE_H_
#define SWITCHBOARD_OPS_INDEXING_REPEAT_INTERLEAVE_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// i, repeats[i] times, for each i: a vector of repeats' dtype, int32 or int64. output_size is the
// sum of repeats, where the caller knows it: without it the result has no shape on meta.
SB_OP(repeat_interleave_Tensor,
      "aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor");
SB_OP(repeat_interleave_Tensor_out, out_of(repeat_interleave_Tensor, "Tensor_out"));
// The parts of self along `dim`, each repeated; without `dim`, the elements of self made flat.
SB_OP(repeat_interleave_self_Tensor,
      "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
      "output_size=None) -> Tensor");
SB_OP(repeat_interleave,
      "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
      "output_size=None) -> Tensor");

// A new last dimension with a 1 where the int64 element says, 0 elsewhere. num_classes -1 is one
// more than the largest element.
SB_OP(one_hot, "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_REPEAT_INTERLEAVE_H_
