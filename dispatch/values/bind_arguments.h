// Calls by values: positional and named ones become the arguments of a schema.

#ifndef SWITCHBOARD_DISPATCH_VALUES_BIND_ARGUMENTS_H_
#define SWITCHBOARD_DISPATCH_VALUES_BIND_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// Completes a call: takes positional values and (name, value) pairs, and gives one value for each
// argument of the schema, defaults filled in and values coerced to the argument's type where the
// schema allows it (see coerce_argument). Throws TypeError that names the operator, the argument,
// what was expected and what came: too many, missing, given twice, unknown, of the wrong type.
Stack bind_arguments(const FunctionSchema& schema, std::vector<IValue> positional,
                     std::vector<std::pair<std::string, IValue>> keyword = {});

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_VALUES_BIND_ARGUMENTS_H_
