// Calls of mutating operators on functional tensors.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_WRITE_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_WRITE_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::internal {

// Computes what the operator would write, by its functional form or else on a clone, and gives it
// to the functional tensors that it would write to. The results are what the operator returns. See
// functionalize_call.
std::vector<IValue> call_writing(const FunctionalizeContext& context, const OperatorHandle& op,
                                 std::vector<IValue> arguments);

// How that call goes on: `value_of(i)` is what a call below is given for argument i.
void explain_writing(CallPath& path, const OperatorHandle& op,
                     absl::FunctionRef<IValue(size_t)> value_of);

}  // namespace sb::internal

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_WRITE_H_
