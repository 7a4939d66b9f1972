// Tensors made larger at their edges, or smaller.

#ifndef SWITCHBOARD_OPS_INDEXING_PAD_H_
#define SWITCHBOARD_OPS_INDEXING_PAD_H_
#include "switchboard/ops/define/forms.h"

namespace sb {

// `pad` has for the last dimension, then the one before it, and so on, how many elements to add in
// front and at the end; a negative number takes elements away. The new ones are `value`.
SB_OP(constant_pad_nd,
      "aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor");
SB_OP(constant_pad_nd_out, out_of(constant_pad_nd, "out"));
// mode: "constant" with `value`; "reflect", "replicate" and "circular", without, for the last 1 to
// 3 dimensions of a tensor with one or two others.
SB_OP(pad,
      "aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor");
// The same with mode 0 to 3: reflect, replicate, circular, constant.
SB_OP(_pad_enum,
      "aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor");
// The new elements are those of the other edge; all dimensions but the first two are padded.
SB_OP(_pad_circular, "aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_INDEXING_PAD_H_
