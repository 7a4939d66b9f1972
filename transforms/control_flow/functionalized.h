// The rule by which operators that take functions are functionalised.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_FUNCTIONALIZED_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_FUNCTIONALIZED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchboard/dispatch/objects/higher_order_operator.h"

namespace sb::control_flow {

// How the functions of an operator are called.
enum class FunctionCalls : uint8_t {
  OneOfThem,      // with the tensors of the operator's lists, in order
  AgainAndAgain,  // the same the first time, and then with what they gave, or other slices
};
// The rule for functionalisation: the operator runs on values, below, with functions that mutate
// nothing. `function_names` are those of the arguments that are functions, in order; of a list of
// functions, one name. Results from number `copied` on, which gets the arguments, are copies.
//
// Where one of the functions is called, what it writes to its operands is written to them after the
// call; a result that is an operand, or a view of one, for whatever the data say, is that, too.
// NotImplementedError for other writes to what functions have not made. Where only the data tell
// whether a result is a view of an operand, or of what a function has captured, it is a copy, and
// what one of both holds after a write to the other is not known: NotImplementedError for who reads
// it.
FunctionalizeApiRule functionalized(
    const HigherOrderOperator& op, std::vector<std::string> function_names, FunctionCalls calls,
    std::function<size_t(const std::vector<IValue>&)> copied = nullptr);

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_FUNCTIONALIZED_H_
