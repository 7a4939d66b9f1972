// Calls as code: what graphs, logs and errors print them with.

#ifndef SWITCHBOARD_DISPATCH_INSPECT_CALL_TEXT_H_
#define SWITCHBOARD_DISPATCH_INSPECT_CALL_TEXT_H_

#include <functional>
#include <string>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb {

// "float32[2, 3]"; the device follows unless it is the CPU: "float32[2, 3] on cuda:0".
std::string type_text(DType dtype, SymIntArrayRef sizes, Device device);
std::string type_text(const Tensor& tensor);

// The value as code, where text(tensor) stands for each tensor, those in lists included.
std::string value_text(const IValue& value, const std::function<std::string(const Tensor&)>& text);

// "2.5" for a tensor that was made from a number and can be read here, "s0" for one that stands for
// a symbol; "" for any other.
std::string wrapped_number_text(const Tensor& tensor);

// Returns whether both are the same value of the same type, and neither holds a tensor.
bool is_same_constant(const IValue& a, const IValue& b);

// The arguments of a call, as one writes them: "x, y, alpha=2". is_default(i) says which are left
// out; text(i) is the value of one. Keyword-only arguments, and those after one that was left out,
// have their name.
std::string arguments_text(const FunctionSchema& schema,
                           const std::function<bool(size_t)>& is_default,
                           const std::function<std::string(size_t)>& text);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_INSPECT_CALL_TEXT_H_
