#include "switchboard/fake/trivial_rule.h"

#include <vector>

#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

bool run_trivial_rule(const OperatorHandle& op, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const size_t base = stack->size() - schema.arguments.size();
  std::vector<IValue> results;
  if (op.entry().has_tag(Tag::inplace)) {
    results.push_back((*stack)[base]);
  } else if (op.entry().has_tag(Tag::out)) {
    for (size_t i = 0; i < schema.arguments.size(); ++i)
      if (schema.arguments[i].is_out()) results.push_back((*stack)[base + i]);
  } else if (!schema.is_mutable() || !schema.returns.empty()) {
    return false;
  }
  // One that is built in may return nothing (check_tags.h).
  if (schema.returns.empty()) results.clear();
  if (results.size() != schema.returns.size()) return false;
  stack->resize(base);
  stack->insert(stack->end(), results.begin(), results.end());
  return true;
}

}  // namespace sb::internal
