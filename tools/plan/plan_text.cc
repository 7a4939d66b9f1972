#include "switchboard/tools/plan/plan_text.h"

#include "absl/strings/escaping.h"
#include "switchboard/core/str_cat.h"

namespace sb::plan {

std::string shown(const std::string& text) {
  constexpr size_t kShown = 60;
  return absl::CHexEscape(text.size() <= kShown ? text : text.substr(0, kShown) + "...");
}

std::string origin_of(const Plan& plan, const PlannedStorage& storage) {
  if (!storage.name.empty()) return shown(storage.name);
  if (storage.is_input) return "(not declared)";
  const PlannedOp& op = plan.ops[storage.born];
  return op.label.empty() ? op.name : shown(op.label);
}

std::string calls_of(const PlannedStorage& storage) {
  return str_cat(storage.born, "-", storage.outlives ? "" : str_cat(storage.dies - 1));
}

std::string during_text(const Plan& plan, size_t op) {
  if (op >= plan.ops.size()) return "";
  const PlannedOp& call = plan.ops[op];
  return str_cat("during call ", op, ", ", call.name,
                 call.label.empty() ? "" : str_cat(" (", shown(call.label), ")"));
}

std::string not_counted_text(const Plan& plan) {
  std::string text;
  for (const auto& [op, calls] : plan.not_counted())
    text += str_cat(text.empty() ? "not counted: " : ", ", op,
                    calls > 1 ? str_cat(" (", calls, " times)") : "");
  return text.empty() ? text : text + "\n";
}

}  // namespace sb::plan
