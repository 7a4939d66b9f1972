// Operators that write to their arguments, called so that nothing is written to.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_AUTO_FUNCTIONALIZED_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_AUTO_FUNCTIONALIZED_H_

#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/transforms/higher_order/named_values.h"

namespace sb {

// `higher_order::auto_functionalized(op, kwargs)` and
// `higher_order::auto_functionalized_v2(op, kwargs, _all_bases)`: an operator's name, a list of
// pairs of a name and a value, and a list of tensors.
HigherOrderOperator& auto_functionalized_op();
HigherOrderOperator& auto_functionalized_v2_op();

// Calls the operator with clones of what it writes to. Gives its results and then the clones, those
// of lists one by one, in the order of its arguments; none for an argument that is missing. As
// `torch._higher_order_ops.auto_functionalized`, which gives lists as lists, and a None where the
// operator gives nothing.
//
// RuntimeError unless the operator writes to tensors, or lists of them, and gives new tensors or is
// tagged inplace or out; for one that changes the shapes of its arguments, and for tensors that
// would be written to and share memory, too.
std::vector<Tensor> auto_functionalized(const std::string& op,
                                        const std::vector<higher_order::NamedValue>& kwargs);

// The same where what it writes to are views, which may share memory: of clones of the bases, which
// come behind the results. As `torch._higher_order_ops.auto_functionalized_v2`; the kwargs say of a
// written argument x, by the names that PyTorch gives them,
//
//   _x_base_index                          which base it is, from 0 on; None for a missing one
//   _x_size, _x_stride, _x_storage_offset  and which view of it: as aten::as_strided counts,
//   _x_slice_dim, _x_slice_start, _end     or a slice,
//   _x_alias                               or all of it, as another tensor; else it is the base
//   _x_length, _x_0_base_index, ...        and the same of each tensor of a list
//
// and of an operator that is tagged out, which reads nothing of them and has no bases
//
//   _x_size, _x_stride, _x_dtype, _x_device
std::vector<Tensor> auto_functionalized_v2(const std::string& op,
                                           const std::vector<higher_order::NamedValue>& kwargs,
                                           std::vector<Tensor> all_bases);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_AUTO_FUNCTIONALIZED_H_
