#include "switchboard/dispatch/inspector.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

TableRow row_of(const OperatorEntry& entry, DispatchKey key) {
  const Resolution resolution = entry.resolve(key);
  TableRow row{key, resolution.rule, resolution.source, resolution.kernel != nullptr, false, {}};
  if (resolution.kernel) {
    row.is_fallthrough = resolution.kernel->function.entries.is_fallthrough();
    row.where = resolution.kernel->where;
  }
  return row;
}

// "ops/add.cc:31  [math kernel, from CompositeImplicitAutograd]".
std::string row_text(const TableRow& row) {
  const std::string what = row.is_fallthrough ? str_cat("fallthrough ", to_string(row.where))
                           : row.has_kernel   ? to_string(row.where)
                                              : "(none)";
  const std::string from = row.source == row.key ? "" : str_cat(", from ", to_string(row.source));
  return absl::StrFormat("%-40s [%s%s]", what, to_string(row.rule), from);
}

std::string_view verdict_text(ExplainStep::Verdict verdict) {
  switch (verdict) {
    case ExplainStep::Verdict::Excluded:
      return "excluded by the thread";
    case ExplainStep::Verdict::Fallthrough:
      return "falls through";
    case ExplainStep::Verdict::Taken:
      return "runs";
    case ExplainStep::Verdict::Missing:
      return "no kernel: the call fails";
  }
  return "";
}

}  // namespace

std::vector<TableRow> computed_table(const OperatorHandle& op) {
  OperatorEntry& entry = op.entry();
  op.schema();  // throws for a removed operator
  return entry.dispatcher().inspect([&] {
    std::vector<TableRow> rows;
    for_each_runtime_key([&](DispatchKey key) { rows.push_back(row_of(entry, key)); });
    return rows;
  });
}

std::string table_to_string(const OperatorHandle& op, bool all) {
  std::string text = str_cat(op.schema().to_string(), "\n");
  for (const TableRow& row : computed_table(op)) {
    if (!row.has_kernel && !all && row.rule == ResolutionRule::Missing) continue;
    absl::StrAppendFormat(&text, "%-32s %s\n", to_string(row.key), row_text(row));
  }
  return text;
}

Explanation explain(const OperatorHandle& op, DispatchKeySet arguments) {
  OperatorEntry& entry = op.entry();
  Explanation e;
  e.op = op.name().to_string();
  e.arguments = arguments;
  e.included = dispatch_tls.included - DispatchKey::Observed;
  e.excluded = dispatch_tls.excluded();
  const DispatchTable& table = entry.resolved_table();
  e.call_keys = table.call_keys(arguments) - DispatchKey::Observed;
  const DispatchKeySet all = arguments | e.included;
  const DispatchKey taken = e.call_keys.highest_key();
  const Backend backend = all.highest_backend();
  auto step = [&](DispatchKey key, ExplainStep::Verdict verdict) {
    e.steps.push_back(
        {key, verdict, entry.dispatcher().inspect([&] { return row_of(entry, key); })});
  };
  for (int f = kNumFunctionalities; f > 0; --f) {
    const DispatchKey functionality = static_cast<DispatchKey>(f);
    const DispatchKeySet only(functionality);
    if ((all & only).empty()) continue;
    // The slot that is asked for a fallthrough is that of the arguments' own highest backend.
    const DispatchKey key = runtime_key(functionality, backend);
    if (!(e.excluded & only).empty()) {
      step(key, ExplainStep::Verdict::Excluded);
    } else if ((e.call_keys & only).empty()) {
      step(runtime_key(functionality, arguments.highest_backend()),
           ExplainStep::Verdict::Fallthrough);
    } else {
      step(key, table[e.call_keys] ? ExplainStep::Verdict::Taken : ExplainStep::Verdict::Missing);
      return e;
    }
  }
  step(taken, table[e.call_keys] ? ExplainStep::Verdict::Taken : ExplainStep::Verdict::Missing);
  return e;
}

std::string to_string(const Explanation& e) {
  std::string text = str_cat(e.op, " called with ", to_string(e.arguments), "\n  thread adds ",
                             to_string(e.included), ", takes away ", to_string(e.excluded), "\n");
  for (const ExplainStep& step : e.steps) {
    absl::StrAppendFormat(&text, "  %-28s %-25s %s\n", to_string(step.key),
                          std::string(verdict_text(step.verdict)), row_text(step.row));
  }
  return text;
}

void TraceCalls::enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel&) {
  const DispatchKey key = keys.highest_key();
  const Resolution resolution = op.dispatcher().resolve(op, key);
  sink_(absl::StrFormat("%s%s  %s  %s", std::string(2 * depth_, ' '), op.name().to_string(),
                        to_string(key),
                        resolution.kernel ? to_string(resolution.kernel->where) : "(removed)"));
  ++depth_;
}

void TraceCalls::leave(const OperatorEntry&, DispatchKeySet) { --depth_; }

}  // namespace sb
