#include "switchboard/custom_ops/op_facts.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/device.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/layout_constraint.h"
#include "switchboard/custom_ops/register_autocast.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/dispatch/objects/out_variant.h"
#include "switchboard/dispatch/objects/simple_registry.h"
#include "switchboard/ops/autocast/autocast_policy.h"
#include "switchboard/ops/outputs/builtin.h"

namespace sb {
namespace {

// "{core, pointwise}" without the braces.
std::string tags_text(const OpOverload& op) {
  const std::string braced = to_string(op.tags());
  return op.tags().empty() ? "" : braced.substr(1, braced.size() - 2);
}

std::string layout_text(const OpOverload& op) {
  if (find_layout_constraint_tag(op) || is_builtin_namespace(op.ns())) return "";
  return str_cat(to_string(get_layout_constraint_tag(op)), ", as no tag says otherwise");
}

std::string out_variant_text(const OpOverload& op) {
  if (const auto registered = lookup_manual_out_variant(op))
    return str_cat(registered->name(), ", as registered");
  if (op.schema().is_mutable() || op.schema().name.name.back() == '_') return "";
  const std::optional<OpOverload> found = to_out_variant(op);
  return found ? found->name() : "";
}

std::string effect_text(const OpOverload& op) {
  return has_ordered_effect(op.handle()) ? "ordered: every call runs, in the program's order" : "";
}

std::string_view policy_text(AutocastPolicy policy) {
  switch (policy) {
    case AutocastPolicy::None:
      return "";
    case AutocastPolicy::LowerPrecision:
      return "to the region's dtype";
    case AutocastPolicy::Float32:
      return "to float32";
    case AutocastPolicy::Promote:
      return "to the widest dtype of its arguments";
  }
  return "";
}

std::string autocast_text(const OpOverload& op) {
  std::vector<std::string> casts;
  const std::string_view policy = policy_text(autocast_policy(op.schema().name.name));
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (const std::optional<DType> dtype = registered_autocast(op.handle(), type))
      casts.push_back(str_cat(to_string(type), " to ", to_string(*dtype)));
    else if (type == DeviceType::CPU && !policy.empty())
      casts.push_back(str_cat("cpu ", policy));
  }
  return absl::StrJoin(casts, ", ");
}

std::string disabled_text(const OpOverload& op) {
  const auto disabled = default_simple_registry().find<DisabledKernels>(op.name());
  if (!disabled) return "";
  return absl::StrJoin(disabled->kernels, ", ", [](std::string* text, const auto& kernel) {
    *text +=
        str_cat("the kernel at ", to_string(kernel.first), " (", to_string(kernel.second), ")");
  });
}

}  // namespace

std::vector<OpFact> op_facts(const OpOverload& op) {
  std::vector<OpFact> facts{{"tags", tags_text(op)},
                            {"layout", layout_text(op)},
                            {"out variant", out_variant_text(op)},
                            {"effect", effect_text(op)},
                            {"autocast", autocast_text(op)},
                            {"disabled", disabled_text(op)}};
  if (const OperatorBase* const base = find_operator_base(op.handle().entry()))
    for (const OperatorBase::RuleInfo& rule : base->rules())
      facts.push_back({"rule", str_cat("for ", rule.what, " (", to_string(rule.where), ")")});
  std::erase_if(facts, [](const OpFact& fact) { return fact.text.empty(); });
  return facts;
}

std::string to_string(const std::vector<OpFact>& facts) {
  std::string text;
  for (const OpFact& fact : facts)
    absl::StrAppendFormat(&text, "  %-12s %s\n", fact.name, fact.text);
  return text;
}

}  // namespace sb
