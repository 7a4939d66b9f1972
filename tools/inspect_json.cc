#include "switchboard/tools/inspect_json.h"

#include <utility>

#include "switchboard/dispatch/inspect/reason.h"
#include "switchboard/tools/json.h"

namespace sb::tools {
namespace {

Json slot_json(const TableRow& row) {
  return {{"key", to_string(row.key)},
          {"rule", to_string(row.rule)},
          {"source", to_string(row.source)},
          {"kernel", row.has_kernel ? Json(to_string(row.where)) : Json()},
          {"fallthrough", row.is_fallthrough},
          {"reason", reason_text(row)}};
}

// Names, highest first, as texts have them.
Json keys_json(DispatchKeySet set) {
  Json names = Json::array();
  const std::vector<DispatchKey> keys = set.keys();
  for (size_t i = keys.size(); i > 0; --i) names.push_back(to_string(keys[i - 1]));
  return names;
}

Json step_json(const ExplainStep& step) {
  Json json = slot_json(step.row);
  json["verdict"] = verdict_text(step);
  return json;
}

Json path_json(const std::vector<PathStep>& path, size_t first) {
  Json steps = Json::array();
  bool certain = true;
  for (size_t i = 0; i < path.size(); ++i) {
    const PathStep& step = path[i];
    Json json = step.kind == PathStep::Kind::Other ? Json::object() : slot_json(step.row);
    json["operator"] = step.op;
    if (!step.what.empty()) json["what"] = step.what;
    json["verdict"] = internal::verdict_text(step, certain);
    certain = certain && step.onward != PathStep::Onward::Decides;
    if (i >= first) steps.push_back(std::move(json));
  }
  return steps;
}

// {name: [text, ...]}.
Json facts_json(const std::vector<OpFact>& facts) {
  Json json = Json::object();
  for (const OpFact& fact : facts) json[fact.name].push_back(fact.text);
  return json;
}

}  // namespace

std::string table_json(const OperatorHandle& op, const std::vector<OpFact>& facts, bool all) {
  Json slots = Json::array();
  for (const TableRow& row : computed_table(op))
    if (all || row.has_kernel || row.rule != ResolutionRule::Missing)
      slots.push_back(slot_json(row));
  return to_text({{"operator", op.name().to_string()},
                  {"schema", op.schema().to_string()},
                  {"facts", facts_json(facts)},
                  {"slots", std::move(slots)}});
}

std::string table_json(const HigherOrderOperator& op) {
  TableDump dump;
  dump_higher_order_ops(&dump);
  Json slots = Json::array();
  for (const auto& [key, slot] : dump[op.name()].slots) {
    Json json = slot_json({key,
                           slot.rule,
                           slot.source,
                           slot.content != DumpedSlot::Content::None,
                           slot.content == DumpedSlot::Content::Fallthrough,
                           false,
                           {}});
    if (!slot.place.empty()) json["kernel"] = slot.place;
    slots.push_back(std::move(json));
  }
  return to_text(
      {{"operator", op.name()}, {"schema", signature_text(op)}, {"slots", std::move(slots)}});
}

std::string explanation_json(const Explanation& e, const std::vector<OpFact>& facts) {
  Json looked_at = Json::array(), tensors = Json::array();
  for (const ExplainStep& step : e.steps) looked_at.push_back(step_json(step));
  for (const ExplainedTensor& tensor : e.tensors)
    tensors.push_back(
        {{"argument", tensor.argument}, {"name", tensor.name}, {"keys", keys_json(tensor.keys)}});
  Json below = path_json(e.path, 1);
  if (e.has_next()) below.push_back(step_json(*e.next));
  return to_text({{"operator", e.op},
                  {"runs", computes(e)},
                  {"tensors", std::move(tensors)},
                  {"keys",
                   {{"arguments", keys_json(e.arguments)},
                    {"included", keys_json(e.included)},
                    {"excluded", keys_json(e.excluded)},
                    {"fallthroughs", keys_json(e.fallthroughs & (e.arguments | e.included))},
                    {"call", keys_json(e.call_keys)}}},
                  {"looked_at", std::move(looked_at)},
                  {"below", std::move(below)},
                  {"facts", facts_json(facts)}});
}

std::string explanation_json(const HigherOrderExplanation& e) {
  return to_text({{"operator", e.op},
                  {"runs", computes(e)},
                  {"keys",
                   {{"arguments", keys_json(e.arguments)},
                    {"included", keys_json(e.included)},
                    {"excluded", keys_json(e.excluded)},
                    {"fallthroughs", keys_json(e.passed_over)},
                    {"call", keys_json(e.call_keys)}}},
                  {"path", path_json(e.path, 0)}});
}

std::string dump_json(const TableDump& dump) {
  Json operators = Json::array();
  for (const auto& [name, op] : dump) {
    Json slots = Json::array();
    for (const auto& [key, slot] : op.slots)
      slots.push_back({{"key", to_string(key)},
                       {"rule", to_string(slot.rule)},
                       {"source", to_string(slot.source)},
                       {"kernel", slot.place.empty() ? Json() : Json(slot.place)},
                       {"fallthrough", slot.content == DumpedSlot::Content::Fallthrough}});
    operators.push_back({{"operator", name}, {"schema", op.schema}, {"slots", std::move(slots)}});
  }
  return to_text(operators);
}

std::string diff_json(const TableDiff& diff) {
  Json changed = Json::array();
  for (const OpChange& op : diff.changed) {
    Json slots = Json::array();
    for (const SlotChange& slot : op.slots) {
      Json keys = Json::array();
      for (const DispatchKey key : slot.keys) keys.push_back(to_string(key));
      slots.push_back({{"keys", std::move(keys)}, {"before", slot.before}, {"after", slot.after}});
    }
    Json schema;
    if (!op.schema_before.empty())
      schema = {{"before", op.schema_before}, {"after", op.schema_after}};
    changed.push_back(
        {{"operator", op.op}, {"schema", std::move(schema)}, {"slots", std::move(slots)}});
  }
  return to_text(
      {{"removed", diff.removed}, {"added", diff.added}, {"changed", std::move(changed)}});
}

std::string ops_json(const std::vector<ListedOp>& ops) {
  Json list = Json::array();
  for (const ListedOp& op : ops)
    list.push_back({{"operator", op.name}, {"schema", op.schema}, {"facts", facts_json(op.facts)}});
  return to_text(list);
}

}  // namespace sb::tools
