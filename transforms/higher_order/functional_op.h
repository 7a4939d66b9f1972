// Operators that operators take by name.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FUNCTIONAL_OP_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FUNCTIONAL_OP_H_

#include <string_view>

#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::higher_order {

// The operator of that name, which `who` was given as `op`. Throws TypeError for another value than
// a name, and RuntimeError where there is no such operator.
OpOverload named_op(std::string_view who, const IValue& name);

// The same, which `who` calls where a graph or functionalisation would not see a
// write or a view. Throws RuntimeError where it writes to its arguments or gives views of them,
// too.
OpOverload functional_op(std::string_view who, const IValue& name);

}  // namespace sb::higher_order

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_FUNCTIONAL_OP_H_
