#include "switchboard/fake/common_device.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {
namespace {

// "argument 0 'self' on cuda:0, argument 1 'other' on cpu".
std::string describe_devices(const OperatorHandle& op, const IValue* arguments) {
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
  return text;
}

}  // namespace

std::optional<Device> common_device(const OperatorHandle& op, const Stack& stack) {
  const size_t n = op.entry().num_arguments();
  const IValue* const arguments = stack.data() + (stack.size() - n);
  std::optional<Device> common;
  bool leader_yields = false;  // the leader is a 0-dim CPU tensor
  for (size_t i = 0; i < n; ++i) {
    arguments[i].for_each_tensor([&](const Tensor& t) {
      if (!t.defined()) return;
      const bool yields = t.dim() == 0 && t.is_cpu();
      if (!common) {
        common = t.device();
        leader_yields = yields;
      } else if (t.device() == *common) {
        leader_yields = leader_yields && yields;
      } else if (yields) {
        return;
      } else if (leader_yields) {
        common = t.device();
        leader_yields = false;
      } else {
        SB_THROW(RuntimeError, op.name().to_string(), ": expected all tensors on one device, got ",
                 describe_devices(op, arguments));
      }
    });
  }
  return common;
}

}  // namespace sb::internal
