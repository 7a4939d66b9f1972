#include "switchboard/tools/plan/plan_report.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/tools/plan/plan_text.h"
#include "switchboard/tools/plan/text_table.h"

namespace sb::plan {
namespace {

std::string flops_text(const CallCost& cost) {
  return cost.counted ? with_commas(cost.flops) : "?";
}

std::string device_summary(const Plan& plan, const DeviceMemory& memory) {
  std::string text =
      str_cat("peak on ", to_string(memory.device), ": ", with_commas(memory.peak_bytes),
              " bytes, ", with_commas(memory.inputs_at_peak), " of them weights and inputs");
  if (const std::string during = during_text(plan, memory.peak_op); !during.empty())
    text += "; " + during;
  const Arena& arena = memory.arena;
  text += str_cat("\narena on ", to_string(memory.device), ": ", with_commas(arena.bytes),
                  " bytes for ", with_commas(memory.arena_storages.size()),
                  " temporary storages; at least ", with_commas(arena.lower_bound),
                  " are needed, and ", with_commas(arena.without_reuse), " without reuse\n");
  return text;
}

}  // namespace

std::string PlanReport::calls_text() const {
  std::vector<Count> live(plan_.ops.size() + 1);
  for (const DeviceMemory& memory : memories_)
    for (size_t i = 0; i < live.size(); ++i) live[i] += memory.live_bytes[i];
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
    if (storage.bytes.maybe_int() == 0) continue;
    table.add({origin_of(plan_, storage), to_string(storage.device),
               with_commas(Count(storage.bytes)), calls_of(storage), offsets[i]});
  }
  return table.to_string();
}

std::string PlanReport::summary_text() const {
  const CallCost total = plan_.total();
  std::string text = str_cat(with_commas(total.flops), " FLOPs in ", with_commas(plan_.ops.size()),
                             " calls; ", with_commas(total.bytes_read), " bytes read, ",
                             with_commas(total.bytes_written), " written\n");
  text += not_counted_text(plan_);
  for (const DeviceMemory& memory : memories_) text += device_summary(plan_, memory);
  return text;
}

}  // namespace sb::plan
