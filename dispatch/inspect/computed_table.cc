#include "switchboard/dispatch/inspect/computed_table.h"

#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace internal {

TableRow table_row(const OperatorEntry& entry, DispatchKey key) {
  const Resolution resolution = entry.resolve(key);
  TableRow row{key, resolution.rule, resolution.source, resolution.kernel != nullptr, false, {}};
  if (resolution.kernel) {
    row.is_fallthrough = resolution.kernel->function.entries.is_fallthrough();
    row.where = resolution.kernel->where;
  }
  return row;
}

std::string kernel_text(const TableRow& row) {
  if (!row.has_kernel) return "(none)";
  return str_cat(row.is_fallthrough ? "fallthrough " : "", to_string(row.where));
}

std::string rule_text(const TableRow& row) {
  const std::string from = row.source == row.key ? "" : str_cat(", from ", to_string(row.source));
  return str_cat("[", to_string(row.rule), from, "]");
}

}  // namespace internal

std::vector<TableRow> computed_table(const OperatorHandle& op) {
  const OperatorEntry& entry = op.entry();
  return entry.dispatcher().inspect([&] {
    entry.schema();  // throws for a removed operator
    std::vector<TableRow> rows;
    for_each_runtime_key([&](DispatchKey key) { rows.push_back(internal::table_row(entry, key)); });
    return rows;
  });
}

std::string table_to_string(const OperatorHandle& op, bool all) {
  std::string text = str_cat(op.schema().to_string(), "\n");
  for (const TableRow& row : computed_table(op)) {
    if (!row.has_kernel && !all && row.rule == ResolutionRule::Missing) continue;
    absl::StrAppendFormat(&text, "%-32s %-40s %s\n", to_string(row.key), internal::kernel_text(row),
                          internal::rule_text(row));
  }
  return text;
}

}  // namespace sb
