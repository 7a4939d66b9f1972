#include <nlohmann/json.hpp>

#include "switchboard/tools/plan/plan_report.h"

namespace sb::plan {
namespace {

using nlohmann::ordered_json;

ordered_json op_json(const PlannedOp& op) {
  return {{"name", op.name},
          {"label", op.label},
          {"results", op.results},
          {"flops", op.cost.counted ? ordered_json(op.cost.flops) : ordered_json()},
          {"bytes_read", op.cost.bytes_read},
          {"bytes_written", op.cost.bytes_written}};
}

ordered_json storage_json(const PlannedStorage& storage) {
  return {{"name", storage.name},         {"device", to_string(storage.device)},
          {"bytes", storage.bytes},       {"is_input", storage.is_input},
          {"born", storage.born},         {"dies", storage.dies},
          {"outlives", storage.outlives}, {"arena_offset", nullptr}};
}

}  // namespace

std::string PlanReport::to_json() const {
  ordered_json json = {{"flops", plan_.total().flops}, {"not_counted", plan_.not_counted()}};
  json["ops"] = ordered_json::array();
  for (const PlannedOp& op : plan_.ops) json["ops"].push_back(op_json(op));
  json["storages"] = ordered_json::array();
  for (const PlannedStorage& storage : plan_.storages)
    json["storages"].push_back(storage_json(storage));
  json["devices"] = ordered_json::array();
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
                               {"arena_without_reuse", memory.arena.without_reuse}});
  }
  // A label may be any bytes.
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sb::plan
