// Names of operators as users write them: with their namespace.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_QUALIFIED_NAME_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_QUALIFIED_NAME_H_

#include <string_view>

#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// Parses "ns::name" or "ns::name.overload"; OperatorName::to_string gives it back
// ("ns::name.default" is "ns::name"). Throws ValueError that says what is missing or too much. As
// `torch._library.utils.parse_namespace`.
OperatorName parse_qualified_name(std::string_view text);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_QUALIFIED_NAME_H_
