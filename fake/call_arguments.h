// The arguments of a call on the end of a stack.

#ifndef SWITCHBOARD_FAKE_CALL_ARGUMENTS_H_
#define SWITCHBOARD_FAKE_CALL_ARGUMENTS_H_

#include <string>

#include "absl/types/span.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/operator_handle.h"

namespace sb::internal {

inline absl::Span<IValue> arguments_on(const OperatorHandle& op, Stack* stack) {
  return absl::MakeSpan(*stack).last(op.entry().num_arguments());
}
inline absl::Span<const IValue> arguments_on(const OperatorHandle& op, const Stack& stack) {
  return absl::MakeConstSpan(stack).last(op.entry().num_arguments());
}

// "aten::add.Tensor(float32[2] on cuda:0, other=float32[2])": the call as errors show it.
std::string render_call(const OperatorHandle& op, const Stack& stack);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CALL_ARGUMENTS_H_
