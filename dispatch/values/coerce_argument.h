// Conversion of a value to the type of an argument.

#ifndef SWITCHBOARD_DISPATCH_VALUES_COERCE_ARGUMENT_H_
#define SWITCHBOARD_DISPATCH_VALUES_COERCE_ARGUMENT_H_

#include <optional>
#include <string>

#include "switchboard/dispatch/schema/function_schema.h"

namespace sb {

// `value` as a value of the type of argument i, or nullopt if it cannot be one. Values convert as
// those of PyTorch's `torch.ops` do (tests/values holds its answers):
//
// - to int and SymInt: a bool, a symbol, a tensor of one element (a fraction is cut off), and to
//   int a dtype, layout or memory format, by PyTorch's number of it; never a float. SymInt keeps a
//   symbol, int guards it;
// - to float and complex: any real number, a bool and a tensor of one element, to complex a complex
//   one too; to bool these and None, which is false;
// - to Scalar: any number, a dtype and a layout; no tensor. A bool stays a bool;
// - to Tensor: None, which is an undefined tensor, and for the operators of
//   takes_numbers_for_tensors() a number, which becomes a wrapped one;
// - to Device a str; to ScalarType, Layout and MemoryFormat an int;
// - to a list: any list whose elements convert; to a sized list `int[N]` one int, and to `float[N]`
//   one float, N times; to SymInt[] and to lists of optionals the rows of a tensor; to str[] a str,
//   letter by letter.
//
// Only the numbers of dtypes, layouts and formats that do not exist here are refused although
// PyTorch takes them. The length of a list is not compared with that of a sized list: that is left
// to operators, as in PyTorch. A value that already is of the type is moved. Reading a tensor calls
// operators (tensor_conversions.h).
std::optional<IValue> coerce_argument(const FunctionSchema& schema, size_t i, IValue value);

namespace internal {

// "aten::add.Tensor: argument 1 'other'", for messages.
std::string argument_text(const FunctionSchema& schema, size_t i);
// Converts `v` to the type of argument i. TypeError that names both where it cannot be one.
void coerce_at(const FunctionSchema& schema, size_t i, IValue& v);
// TypeError, in the same words, if a kernel cannot read `v` from a stack as that argument.
void check_stacked(const FunctionSchema& schema, size_t i, const IValue& v);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_VALUES_COERCE_ARGUMENT_H_
