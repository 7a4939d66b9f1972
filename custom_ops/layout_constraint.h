// What a compiler must keep of the strides of an operator's arguments.

#ifndef SWITCHBOARD_CUSTOM_OPS_LAYOUT_CONSTRAINT_H_
#define SWITCHBOARD_CUSTOM_OPS_LAYOUT_CONSTRAINT_H_

#include <optional>

#include "switchboard/dispatch/objects/op_overload.h"

namespace sb {

// The strongest of the operator's tags needs_exact_strides, needs_contiguous_strides,
// needs_fixed_stride_order and flexible_layout; nullopt if it has none of them.
std::optional<Tag> find_layout_constraint_tag(const OpOverload& op);
// The same; where there is none, flexible_layout for operators that are built in, and
// needs_exact_strides for those of one's own. As `get_layout_constraint_tag`.
Tag get_layout_constraint_tag(const OpOverload& op);

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_LAYOUT_CONSTRAINT_H_
