#include "switchboard/tools/plan/plan_report.h"

#include "absl/strings/escaping.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/tools/plan/saturating.h"
#include "switchboard/tools/plan/text_table.h"

namespace sb::plan {
namespace {

// Labels and names may come from a file that nobody vouches for: they neither rewrite a terminal
// nor flood it.
std::string shown(const std::string& text) {
  constexpr size_t kShown = 60;
  return absl::CHexEscape(text.size() <= kShown ? text : text.substr(0, kShown) + "...");
}

std::string flops_text(const CallCost& cost) {
  return cost.counted ? with_commas(cost.flops) : "?";
}

// What the storage is: the name of an input, or the call that made it.
std::string origin_of(const Plan& plan, const PlannedStorage& storage) {
  if (!storage.name.empty()) return shown(storage.name);
  if (storage.is_input) return "(not declared)";
  const PlannedOp& op = plan.ops[storage.born];
  return op.label.empty() ? op.name : shown(op.label);
}

std::string device_summary(const Plan& plan, const DeviceMemory& memory) {
  std::string text =
      str_cat("peak on ", to_string(memory.device), ": ", with_commas(memory.peak_bytes),
              " bytes, ", with_commas(memory.inputs_at_peak), " of them weights and inputs");
  if (memory.peak_op < plan.ops.size()) {
    const PlannedOp& op = plan.ops[memory.peak_op];
    text += str_cat("; during call ", memory.peak_op, ", ", op.name,
                    op.label.empty() ? "" : str_cat(" (", shown(op.label), ")"));
  }
  const Arena& arena = memory.arena;
  text += str_cat("\narena on ", to_string(memory.device), ": ", with_commas(arena.bytes),
                  " bytes for ", with_commas(memory.arena_storages.size()),
                  " temporary storages; at least ", with_commas(arena.lower_bound),
                  " are needed, and ", with_commas(arena.without_reuse), " without reuse\n");
  return text;
}

}  // namespace

std::string PlanReport::calls_text() const {
  std::vector<uint64_t> live(plan_.ops.size() + 1, 0);
  for (const DeviceMemory& memory : memories_)
    for (size_t i = 0; i < live.size(); ++i)
      live[i] = saturating_add(live[i], memory.live_bytes[i]);
  TextTable table({">#", "label", "operator", "results", ">FLOPs", ">read", ">written", ">live"});
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const PlannedOp& op = plan_.ops[i];
    table.add({str_cat(i), shown(op.label), op.name, op.results, flops_text(op.cost),
               with_commas(op.cost.bytes_read), with_commas(op.cost.bytes_written),
               with_commas(live[i])});
  }
  return table.to_string();
}

std::string PlanReport::totals_text() const {
  TextTable table({"operator", ">calls", ">FLOPs", ">read", ">written"});
  for (const OpTotal& total : totals_by_op(plan_))
    table.add({total.name, with_commas(total.calls), flops_text(total.cost),
               with_commas(total.cost.bytes_read), with_commas(total.cost.bytes_written)});
  return table.to_string();
}

std::string PlanReport::storages_text() const {
  std::vector<std::string> offsets(plan_.storages.size(), "-");
  for (const DeviceMemory& memory : memories_)
    for (size_t i = 0; i < memory.arena_storages.size(); ++i)
      offsets[memory.arena_storages[i]] = with_commas(memory.arena.offsets[i]);
  TextTable table({"storage", "device", ">bytes", "live", ">arena offset"});
  for (size_t i = 0; i < plan_.storages.size(); ++i) {
    const PlannedStorage& storage = plan_.storages[i];
    if (storage.bytes == 0) continue;
    table.add({origin_of(plan_, storage), to_string(storage.device), with_commas(storage.bytes),
               str_cat(storage.born, "-", storage.outlives ? "" : str_cat(storage.dies - 1)),
               offsets[i]});
  }
  return table.to_string();
}

std::string PlanReport::summary_text() const {
  const CallCost total = plan_.total();
  std::string text = str_cat(with_commas(total.flops), " FLOPs in ", with_commas(plan_.ops.size()),
                             " calls; ", with_commas(total.bytes_read), " bytes read, ",
                             with_commas(total.bytes_written), " written\n");
  if (const auto missing = plan_.not_counted(); !missing.empty()) {
    text += "not counted:";
    const char* separator = " ";
    for (const auto& [op, calls] : missing) {
      text += str_cat(separator, op, calls > 1 ? str_cat(" (", calls, " times)") : "");
      separator = ", ";
    }
    text += "\n";
  }
  for (const DeviceMemory& memory : memories_) text += device_summary(plan_, memory);
  return text;
}

}  // namespace sb::plan
