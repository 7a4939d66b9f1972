#include "switchboard/fake/call_arguments.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "switchboard/dispatch/inspect/call_text.h"

namespace sb::internal {

std::string render_call(const OperatorHandle& op, const Stack& stack) {
  const auto arguments = arguments_on(op, stack);
  const FunctionSchema& schema = op.schema();
  return absl::StrCat(op.name().to_string(), "(",
                      arguments_text(
                          schema,
                          [&](size_t i) {
                            const std::optional<IValue>& value = schema.arguments[i].default_value;
                            return value && is_same_constant(*value, arguments[i]);
                          },
                          [&](size_t i) {
                            return value_text(arguments[i],
                                              [](const Tensor& t) { return t.describe(); });
                          }),
                      ")");
}

}  // namespace sb::internal
