#include "switchboard/dispatch/modes/purity.h"

#include <algorithm>

#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {

bool has_effects(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  const auto has_alias = [](const auto& a) { return a.alias.has_value(); };
  return std::ranges::none_of(schema.arguments, has_alias) &&
         std::ranges::none_of(schema.returns, has_alias) && has_ordered_effect(op);
}

bool is_impure(const OperatorHandle& op, bool impure_random) {
  return op.schema().is_mutable() || has_ordered_effect(op) ||
         (impure_random && op.entry().has_tag(Tag::nondeterministic_seeded));
}

}  // namespace sb
