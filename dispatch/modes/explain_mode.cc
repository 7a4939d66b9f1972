#include "switchboard/dispatch/modes/explain_mode.h"

#include <mutex>
#include <typeinfo>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/operator_rules.h"
#include "switchboard/dispatch/reclaim.h"

namespace sb {
namespace {

struct Said {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  absl::flat_hash_map<std::type_index, ExplainInMode> modes;
};
// Never destroyed: plugins come and go.
Said& said() {
  static Said* const said = new Said;
  return *said;
}

ExplainInMode find_said(const DispatchMode& mode) {
  std::lock_guard<std::mutex> lock(said().mutex);
  const auto found = said().modes.find(typeid(mode));
  return found == said().modes.end() ? nullptr : found->second;
}

bool has_rule(const OperatorHandle& op, const DispatchMode& mode) {
  const internal::CallPin pin;
  const OperatorRules* const rules = internal::find_rules(op.entry());
  return rules && rules->find_mode_rule(typeid(mode));
}

}  // namespace

ExplainMode::ExplainMode(std::type_index mode, ExplainInMode explain) {
  std::lock_guard<std::mutex> lock(said().mutex);
  said().modes[mode] = explain;
}

namespace internal {

void explain_in_mode(CallPath& path, DispatchMode& mode, const PathCall& call, bool rules) {
  if (rules && has_rule(call.op, mode)) {
    path.passes(call.op.name().to_string(), str_cat("rule for the mode ", mode.name()));
    path.decides();
    return;
  }
  path.passes(call.op.name().to_string(), str_cat("mode ", mode.name()));
  if (const ExplainInMode explain = find_said(mode)) {
    explain(path, mode, call);
    return;
  }
  if (!mode.only_watches()) path.decides();
  path.call(call.op, call.arguments);
}

}  // namespace internal
}  // namespace sb
