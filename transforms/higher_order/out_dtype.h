// An operator that computes, and gives its result, in another dtype.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_OUT_DTYPE_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_OUT_DTYPE_H_

#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/transforms/higher_order/composed_hop.h"

namespace sb {

// `higher_order::out_dtype(op, output_dtype, args)`: an operator's name, a dtype and a list of what
// the operator takes.
HigherOrderOperator& out_dtype_op();

// The result of the operator, "aten::mm", in the dtype: tensors are promoted to what they and the
// dtype have in common before it runs, so that a product of int8 in int32 does not overflow. As
// `out_dtype`, but for gradients, which pass; PyTorch's backward says that there are none.
// ValueError unless it is linear, mm, conv2d, convolution, mul or div of tensors or with a number.
Tensor out_dtype(const std::string& op, DType output_dtype, std::vector<IValue> args);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_OUT_DTYPE_H_
