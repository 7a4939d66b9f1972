#include "switchboard/tools/json.h"
#include "switchboard/tools/plan/plan_report.h"

namespace sb::plan {
namespace {

using tools::Json;

Json op_json(const PlannedOp& op) {
  return {{"name", op.name},
          {"label", op.label},
          {"results", op.results},
          {"flops", op.cost.counted ? Json(op.cost.flops.number()) : Json()},
          {"bytes_read", op.cost.bytes_read.number()},
          {"bytes_written", op.cost.bytes_written.number()}};
}

Json storage_json(const PlannedStorage& storage) {
  return {{"name", storage.name},
          {"device", to_string(storage.device)},
          {"bytes", storage.bytes.expect_int()},
          {"is_input", storage.is_input},
          {"born", storage.born},
          {"dies", storage.dies},
          {"outlives", storage.outlives},
          {"arena_offset", nullptr}};
}

}  // namespace

std::string PlanReport::to_json() const {
  Json json = {{"flops", plan_.total().flops.number()}, {"not_counted", plan_.not_counted()}};
  json["ops"] = Json::array();
  for (const PlannedOp& op : plan_.ops) json["ops"].push_back(op_json(op));
  json["storages"] = Json::array();
  for (const PlannedStorage& storage : plan_.storages)
    json["storages"].push_back(storage_json(storage));
  json["devices"] = Json::array();
  for (const DeviceMemory& memory : memories_) {
    for (size_t i = 0; i < memory.arena_storages.size(); ++i)
      json["storages"][memory.arena_storages[i]]["arena_offset"] = memory.arena.offsets[i];
    json["devices"].push_back({{"device", to_string(memory.device)},
                               {"peak_bytes", memory.peak_bytes},
                               {"peak_op", memory.peak_op},
                               {"inputs_at_peak", memory.inputs_at_peak},
                               {"live_bytes", memory.live_bytes},
                               {"arena_bytes", memory.arena.bytes},
                               {"arena_lower_bound", memory.arena.lower_bound},
                               {"arena_without_reuse", memory.arena.without_reuse.number()}});
  }
  return tools::to_text(json);  // a label may be any bytes
}

}  // namespace sb::plan
