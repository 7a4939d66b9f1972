// Functions of numbers that may be symbols, by the names that exported programs call them.

#ifndef SWITCHBOARD_IO_EXPORTED_SYM_FUNCTION_H_
#define SWITCHBOARD_IO_EXPORTED_SYM_FUNCTION_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb::io {

using SymFunction = SymValue (*)(absl::Span<const SymValue> operands);

// What a node calls that is no operator: "_operator.add", "math.trunc", "torch.sym_max",
// "builtins.round". Null for what is not known. The function throws TypeError for a wrong number or
// kind of operands, naming itself, and RuntimeError for arithmetic that has no result. Results are
// symbolic where an operand is; only `pow` with a symbolic exponent, shifts and `round` guard.
SymFunction find_sym_function(std::string_view target);

// The same for the functions of expressions, as `sympy.srepr` spells them: "FloorDiv", "Max",
// "StrictLessThan".
SymFunction find_sympy_function(std::string_view name);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_SYM_FUNCTION_H_
