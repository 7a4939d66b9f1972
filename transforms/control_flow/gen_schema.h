// What one call of an operator that takes functions writes to and shares, as a schema.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_GEN_SCHEMA_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_GEN_SCHEMA_H_

#include <vector>

#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// The schema of a call with these arguments, which says of each tensor whether some function among
// them, in a branch that is not taken too, writes to it, and which results are views of it. Lists
// are arguments one by one: "operand0" of "operands". As `HigherOrderOperator.gen_schema`:
//
//   higher_order::cond(Tensor pred, Any true_fn, Any false_fn, Tensor(a3!) operand0) -> (Tensor)
//
// The call is traced on copies of the tensors, and runs on them: give it fake tensors where that
// takes long. Operators with an effect do not run. Throws what the call throws, and what a trace
// refuses.
FunctionSchema gen_schema(const HigherOrderOperator& op, const std::vector<IValue>& arguments);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_GEN_SCHEMA_H_
