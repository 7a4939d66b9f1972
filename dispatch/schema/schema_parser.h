// Schema strings to FunctionSchema.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_PARSER_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_PARSER_H_

#include <string_view>

#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// Parses the whole grammar of PyTorch's schema strings:
//
//   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
//
// Throws RuntimeError that shows the schema and points at the offending character. Pure;
// thread-safe.
FunctionSchema parse_schema(std::string_view text);

// Returns whether the text may be a name, or a part of one between its "::" and ".": letters,
// digits and underscores, and no digit first.
bool is_identifier(std::string_view text);

// Returns whether a type of that name takes values of every type: "Any", or a type variable, which
// is one letter with or without digits behind it. Such a Type is a Class of that name.
bool stands_for_any_type(std::string_view name);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_SCHEMA_PARSER_H_
