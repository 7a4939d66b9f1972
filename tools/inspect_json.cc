#include "switchboard/tools/inspect_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "switchboard/dispatch/inspect/reason.h"

namespace sb::tools {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& json) {
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json slot_json(const TableRow& row) {
  return {{"key", to_string(row.key)},
          {"rule", to_string(row.rule)},
          {"source", to_string(row.source)},
          {"kernel", row.has_kernel ? ordered_json(to_string(row.where)) : ordered_json()},
          {"fallthrough", row.is_fallthrough},
          {"reason", reason_text(row)}};
}

// Names, highest first, as texts have them.
ordered_json keys_json(DispatchKeySet set) {
  ordered_json names = ordered_json::array();
  const std::vector<DispatchKey> keys = set.keys();
  for (size_t i = keys.size(); i > 0; --i) names.push_back(to_string(keys[i - 1]));
  return names;
}

ordered_json step_json(const ExplainStep& step) {
  ordered_json json = slot_json(step.row);
  json["verdict"] = verdict_text(step);
  return json;
}

ordered_json path_json(const std::vector<PathStep>& path, size_t first) {
  ordered_json steps = ordered_json::array();
  bool certain = true;
  for (size_t i = 0; i < path.size(); ++i) {
    const PathStep& step = path[i];
    ordered_json json =
        step.kind == PathStep::Kind::Other ? ordered_json::object() : slot_json(step.row);
    json["operator"] = step.op;
    if (!step.what.empty()) json["what"] = step.what;
    json["verdict"] = internal::verdict_text(step, certain);
    certain = certain && step.onward != PathStep::Onward::Decides;
    if (i >= first) steps.push_back(std::move(json));
  }
  return steps;
}

}  // namespace

std::string table_json(const OperatorHandle& op, bool all) {
  ordered_json slots = ordered_json::array();
  for (const TableRow& row : computed_table(op))
    if (all || row.has_kernel || row.rule != ResolutionRule::Missing)
      slots.push_back(slot_json(row));
  return text_of({{"operator", op.name().to_string()},
                  {"schema", op.schema().to_string()},
                  {"slots", std::move(slots)}});
}

std::string table_json(const HigherOrderOperator& op) {
  TableDump dump;
  dump_higher_order_ops(&dump);
  ordered_json slots = ordered_json::array();
  for (const auto& [key, slot] : dump[op.name()].slots) {
    ordered_json json = slot_json({key,
                                   slot.rule,
                                   slot.source,
                                   slot.content != DumpedSlot::Content::None,
                                   slot.content == DumpedSlot::Content::Fallthrough,
                                   false,
                                   {}});
    if (!slot.place.empty()) json["kernel"] = slot.place;
    slots.push_back(std::move(json));
  }
  return text_of(
      {{"operator", op.name()}, {"schema", signature_text(op)}, {"slots", std::move(slots)}});
}

std::string explanation_json(const Explanation& e) {
  ordered_json looked_at = ordered_json::array(), tensors = ordered_json::array();
  for (const ExplainStep& step : e.steps) looked_at.push_back(step_json(step));
  for (const ExplainedTensor& tensor : e.tensors)
    tensors.push_back(
        {{"argument", tensor.argument}, {"name", tensor.name}, {"keys", keys_json(tensor.keys)}});
  ordered_json below = path_json(e.path, 1);
  if (e.from_keys && e.next) below.push_back(step_json(*e.next));
  return text_of({{"operator", e.op},
                  {"runs", e.runs()},
                  {"tensors", std::move(tensors)},
                  {"keys",
                   {{"arguments", keys_json(e.arguments)},
                    {"included", keys_json(e.included)},
                    {"excluded", keys_json(e.excluded)},
                    {"fallthroughs", keys_json(e.fallthroughs & (e.arguments | e.included))},
                    {"call", keys_json(e.call_keys)}}},
                  {"looked_at", std::move(looked_at)},
                  {"below", std::move(below)}});
}

std::string explanation_json(const HigherOrderExplanation& e) {
  return text_of({{"operator", e.op},
                  {"runs", e.runs()},
                  {"keys",
                   {{"arguments", keys_json(e.arguments)},
                    {"included", keys_json(e.included)},
                    {"excluded", keys_json(e.excluded)},
                    {"fallthroughs", keys_json(e.passed_over)},
                    {"call", keys_json(e.call_keys)}}},
                  {"path", path_json(e.path, 0)}});
}

std::string signatures_json(const std::vector<std::string>& signatures) {
  ordered_json list = ordered_json::array();
  for (const std::string& signature : signatures)
    list.push_back({{"operator", signature.substr(0, signature.find('('))}, {"schema", signature}});
  return text_of(list);
}

}  // namespace sb::tools
