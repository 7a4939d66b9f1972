// Conversion of a value to the type of an argument.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_COERCE_ARGUMENT_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_COERCE_ARGUMENT_H_

#include <optional>
#include <string>

#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// `value` as a value of the type of `argument`, or nullopt if it cannot be one. Conversions: int to
// float, complex, SymInt or Scalar, and float to complex; a symbolic int to a plain one, with a
// guard; one number or bool for a sized list, `int[N]`; empty lists for any list type; and any list
// whose elements convert: int lists for float lists, Tensor lists for optional Tensor lists,
// generic lists for what their elements are. A bool is not an int, nor an int a bool;
// but for a Scalar a bool becomes 0 or 1, as in PyTorch's calls by name. The length of a list is
// not compared with that of a sized list: that is left to operators, as in PyTorch. A value that
// already is of the type is moved.
std::optional<IValue> coerce_argument(const Argument& argument, IValue value);

namespace internal {

// "aten::add.Tensor: argument 1 'other'", for messages.
std::string argument_text(const FunctionSchema& schema, size_t i);
// Converts `v` to the type of argument i. TypeError that names both where it cannot be one.
void coerce_at(const FunctionSchema& schema, size_t i, IValue& v);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_COERCE_ARGUMENT_H_
