#include "switchboard/tools/plan/formula_report.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/tools/plan/plan_text.h"
#include "switchboard/tools/plan/text_table.h"

namespace sb::plan {

using tools::Json;

FormulaReport::FormulaReport(Plan plan, Text text)
    : plan_(std::move(plan)), text_(std::move(text)) {
  for (const Device device : plan_.devices()) memories_.push_back(memory_formula_on(plan_, device));
}

std::string FormulaReport::text(const Count& count) const {
  return count.is_symbolic() ? text_(count.expression()) : with_commas(count.number());
}

Json FormulaReport::json(const Count& count) const {
  return count.is_symbolic() ? Json(text_(count.expression())) : Json(count.number());
}

std::string FormulaReport::calls_text() const {
  std::vector<SymInt> live(plan_.ops.size() + 1, 0);
  for (const MemoryFormula& memory : memories_) {
    const std::vector<SymInt> there = live_bytes_on(plan_, memory.device);
    for (size_t i = 0; i < live.size(); ++i) live[i] += there[i];
  }
  TextTable table({">#", "label", "operator", "FLOPs", "live"});
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const PlannedOp& op = plan_.ops[i];
    table.add({str_cat(i), shown(op.label), op.name, op.cost.counted ? text(op.cost.flops) : "?",
               text(live[i])});
  }
  return table.to_string();
}

std::string FormulaReport::totals_text() const {
  TextTable table({"operator", ">calls", "FLOPs", "read", "written"});
  for (const OpTotal& total : totals_by_op(plan_))
    table.add({total.name, with_commas(total.calls),
               total.cost.counted ? text(total.cost.flops) : "?", text(total.cost.bytes_read),
               text(total.cost.bytes_written)});
  return table.to_string();
}

std::string FormulaReport::storages_text() const {
  std::vector<std::string> offsets(plan_.storages.size(), "-");
  for (const MemoryFormula& memory : memories_)
    for (size_t i = 0; i < memory.arena_storages.size(); ++i)
      offsets[memory.arena_storages[i]] = text(memory.arena.offsets[i]);
  TextTable table({"storage", "device", "bytes", "live", "arena offset"});
  for (size_t i = 0; i < plan_.storages.size(); ++i) {
    const PlannedStorage& storage = plan_.storages[i];
    if (storage.bytes.maybe_int() == 0) continue;
    table.add({origin_of(plan_, storage), to_string(storage.device), text(storage.bytes),
               calls_of(storage), offsets[i]});
  }
  return table.to_string();
}

std::string FormulaReport::device_summary(const MemoryFormula& memory) const {
  const std::string device = to_string(memory.device);
  const bool one = memory.moments.size() == 1;
  std::string result = str_cat("peak on ", device, ": ", one ? "" : "the largest of\n");
  for (const MemoryFormula::Moment& moment : memory.moments) {
    const std::string during = during_text(plan_, moment.op);
    result += str_cat(one ? "" : "  ", text(moment.bytes), " bytes", during.empty() ? "" : "; ",
                      during, "\n");
  }
  return result + str_cat("arena on ", device, ": ", text(memory.arena.bytes), " bytes for ",
                          with_commas(memory.arena_storages.size()),
                          " temporary storages\n  at least ", text(memory.arena.lower_bound),
                          " are needed\n  ", text(memory.arena.without_reuse), " without reuse\n");
}

std::string FormulaReport::summary_text() const {
  const CallCost total = plan_.total();
  std::string result =
      str_cat("FLOPs: ", text(total.flops), " in ", with_commas(plan_.ops.size()), " calls\n",
              "bytes read: ", text(total.bytes_read),
              "\nbytes written: ", text(total.bytes_written), "\n", not_counted_text(plan_));
  for (const MemoryFormula& memory : memories_) result += device_summary(memory);
  return result;
}

Json FormulaReport::to_json() const {
  const CallCost total = plan_.total();
  Json result = {{"flops", json(total.flops)},
                 {"bytes_read", json(total.bytes_read)},
                 {"bytes_written", json(total.bytes_written)},
                 {"not_counted", plan_.not_counted()}};
  result["ops"] = Json::array();
  for (const PlannedOp& op : plan_.ops)
    result["ops"].push_back({{"name", op.name},
                             {"label", op.label},
                             {"flops", op.cost.counted ? json(op.cost.flops) : Json()},
                             {"bytes_read", json(op.cost.bytes_read)},
                             {"bytes_written", json(op.cost.bytes_written)}});
  result["storages"] = Json::array();
  for (const PlannedStorage& storage : plan_.storages)
    result["storages"].push_back({{"name", storage.name},
                                  {"device", to_string(storage.device)},
                                  {"bytes", json(storage.bytes)},
                                  {"is_input", storage.is_input},
                                  {"born", storage.born},
                                  {"dies", storage.dies},
                                  {"outlives", storage.outlives},
                                  {"arena_offset", nullptr}});
  result["devices"] = Json::array();
  for (const MemoryFormula& memory : memories_) {
    for (size_t i = 0; i < memory.arena_storages.size(); ++i)
      result["storages"][memory.arena_storages[i]]["arena_offset"] = json(memory.arena.offsets[i]);
    Json moments = Json::array();
    for (const MemoryFormula::Moment& moment : memory.moments)
      moments.push_back({{"bytes", json(moment.bytes)}, {"op", moment.op}});
    result["devices"].push_back({{"device", to_string(memory.device)},
                                 {"peak_bytes", json(memory.peak_bytes)},
                                 {"moments", moments},
                                 {"arena_bytes", json(memory.arena.bytes)},
                                 {"arena_lower_bound", json(memory.arena.lower_bound)},
                                 {"arena_without_reuse", json(memory.arena.without_reuse)}});
  }
  return result;
}

}  // namespace sb::plan
