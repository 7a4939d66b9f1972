#include "switchboard/fake/common_device.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

void throw_devices_disagree(const OperatorHandle& op, absl::Span<const IValue> arguments) {
  // "argument 0 'self' on cuda:0, argument 1 'other' on cpu".
  std::string text;
  const FunctionSchema& schema = op.schema();
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    arguments[i].for_each_tensor([&](const Tensor& t) {
      if (!t.defined()) return;
      absl::StrAppend(&text, text.empty() ? "" : ", ", "argument ", i, " '",
                      schema.arguments[i].name, "' on ", to_string(t.device()),
                      t.dim() == 0 ? " (0-dim)" : "");
    });
  }
  SB_THROW(RuntimeError, op.name().to_string(), ": expected all tensors on one device, got ", text);
}

std::optional<Device> common_device(const OperatorHandle& op, const Stack& stack) {
  const auto arguments = absl::MakeConstSpan(stack).last(op.entry().num_arguments());
  CommonDevice common;
  for (const IValue& argument : arguments) {
    argument.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) common.add(t);
    });
  }
  if (common.disagrees()) throw_devices_disagree(op, arguments);
  return common.device();
}

}  // namespace sb::internal
