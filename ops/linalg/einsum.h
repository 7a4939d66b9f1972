// Products of tensors written as subscripts.

#ifndef SWITCHBOARD_OPS_LINALG_EINSUM_H_
#define SWITCHBOARD_OPS_LINALG_EINSUM_H_

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// As `torch.einsum`: "ij,jk->ik". A letter names a dimension, "..." all that no letter names; those
// that the result does not name are summed over. Without "->", the result names what occurs once,
// in alphabetical order. `path` says which operands are multiplied first: pairs of their numbers,
// the product being put last; by default from left to right. A result that needs no arithmetic is a
// view. RuntimeError for an equation that is malformed or does not fit the operands.
SB_OP(einsum, "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor");

}  // namespace sb

#endif  // SWITCHBOARD_OPS_LINALG_EINSUM_H_
