#include "switchboard/dispatch/inspect/computed_table.h"

#include "absl/strings/str_format.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace internal {

TableRow table_row(const OperatorEntry& entry, DispatchKey key) {
  const Resolution resolution = entry.resolve(key);
  TableRow row{key, resolution.rule, resolution.source, false, false, false, {}};
  if (!resolution.kernel) return row;
  const Kernel& kernel = resolution.kernel->function.entries;
  row.has_kernel = !kernel.is_refusal();
  row.is_fallthrough = kernel.is_fallthrough();
  row.is_autograd_fallback = kernel.is_autograd_fallback();
  row.where = resolution.kernel->where;
  return row;
}

std::string kernel_text(const TableRow& row) {
  if (!row.has_kernel && !row.is_refused()) return "(none)";
  const std::string_view what = row.is_refused()           ? "refusal "
                                : row.is_fallthrough       ? "fallthrough "
                                : row.is_autograd_fallback ? "autograd fallback "
                                                           : "";
  return str_cat(what, to_string(row.where));
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
