#include "switchboard/fake/trivial_rule.h"

#include <optional>
#include <vector>

#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

namespace {

// The arguments that are the results; nullopt where the schema does not tell.
std::optional<std::vector<size_t>> find_results(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  std::vector<size_t> results;
  if (op.entry().has_tag(Tag::inplace)) {
    results.push_back(0);
  } else if (op.entry().has_tag(Tag::out)) {
    for (size_t i = 0; i < schema.arguments.size(); ++i)
      if (schema.arguments[i].is_out()) results.push_back(i);
  } else if (!schema.is_mutable() || !schema.returns.empty()) {
    return std::nullopt;
  }
  // One that is built in may return nothing (check_tags.h).
  if (schema.returns.empty()) results.clear();
  if (results.size() != schema.returns.size()) return std::nullopt;
  return results;
}

}  // namespace

bool has_trivial_rule(const OperatorHandle& op) { return find_results(op).has_value(); }

bool run_trivial_rule(const OperatorHandle& op, Stack* stack) {
  const std::optional<std::vector<size_t>> found = find_results(op);
  if (!found) return false;
  const size_t base = stack->size() - op.schema().arguments.size();
  std::vector<IValue> results;
  for (const size_t i : *found) results.push_back((*stack)[base + i]);
  stack->resize(base);
  stack->insert(stack->end(), results.begin(), results.end());
  return true;
}

}  // namespace sb::internal
