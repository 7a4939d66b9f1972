// From tensors to plain values.

#ifndef SWITCHBOARD_OPS_COPYING_ITEM_H_
#define SWITCHBOARD_OPS_COPYING_ITEM_H_

#include <vector>

#include "switchboard/dispatch/typed_op.h"

namespace sb {

// The one element as a number. RuntimeError unless there is exactly one.
SB_OP(item, "aten::item(Tensor self) -> Scalar");
// The same, without the check's wording: what devices implement.
SB_OP(_local_scalar_dense, "aten::_local_scalar_dense(Tensor self) -> Scalar");
// Whether sizes and all elements agree; NaN equals nothing.
SB_OP(equal, "aten::equal(Tensor self, Tensor other) -> bool");
SB_OP(is_same_size, "aten::is_same_size(Tensor self, Tensor other) -> bool");

// The elements of a vector, each as item gives it: a number, or in a fake mode with a ShapeEnv a
// symbol of its own. As `Tensor.tolist`, but RuntimeError unless self has one dimension.
std::vector<IValue> to_list(const Tensor& self);

}  // namespace sb

#endif  // SWITCHBOARD_OPS_COPYING_ITEM_H_
