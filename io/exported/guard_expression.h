// What an exporter assumed of its inputs, as it writes it: in Python.

#ifndef SWITCHBOARD_IO_EXPORTED_GUARD_EXPRESSION_H_
#define SWITCHBOARD_IO_EXPORTED_GUARD_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "switchboard/io/exported/expression.h"

namespace sb::io {

// Reads "L['ids'].size()[1] <= 64 and L['mask'].size()[1] % 2 == 0". `size_of(input, dim)` says
// what such a size is, `number_of(input)` what an input is that is a number: inputs go by the name
// that the graph gives them (L['args'][0] is "args_0"). Throws ValueError that quotes what it could
// not read; such a guard cannot be checked.
Expression parse_guard(
    std::string_view text,
    absl::FunctionRef<std::optional<Expression>(const std::string& input, int64_t dim)> size_of,
    absl::FunctionRef<std::optional<Expression>(const std::string& input)> number_of);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_GUARD_EXPRESSION_H_
