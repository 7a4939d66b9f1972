#include "switchboard/io/safetensors/saved_layout.h"

#include <nlohmann/json.hpp>

#include "switchboard/io/safetensors/json_document.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

constexpr int64_t kVersion = 1;
constexpr char kComplex128[] = "complex128";

nlohmann::json to_json(const SavedLayout& layout) {
  const SavedLayout plain;
  nlohmann::json json = nlohmann::json::object();
  if (layout.device != plain.device) json["device"] = layout.device;
  if (layout.is_complex128) json["dtype"] = kComplex128;
  if (layout.strides) json["strides"] = *layout.strides;
  if (layout.storage) json["storage"] = *layout.storage;
  if (layout.storage_offset != 0) json["storage_offset"] = layout.storage_offset;
  if (!layout.backend_meta.empty()) json["backend_meta"] = layout.backend_meta;
  return json;
}

SavedLayout parse_layout(const JsonValue& json) {
  SavedLayout layout;
  for (const auto& [field, value] : json.members()) {
    if (field == "device") {
      layout.device = value.to_string();
    } else if (field == "dtype") {
      if (value.to_string() != kComplex128) value.fail("unknown dtype ", quote(value.to_string()));
      layout.is_complex128 = true;
    } else if (field == "strides") {
      layout.strides.emplace();
      for (const JsonValue& stride : value.elements()) layout.strides->push_back(stride.to_int());
    } else if (field == "storage") {
      layout.storage = value.to_int();
    } else if (field == "storage_offset") {
      layout.storage_offset = value.to_int();
    } else if (field == "backend_meta") {
      for (const auto& [key, text] : value.members())
        layout.backend_meta.emplace(key, text.to_string());
    } else {
      value.fail("unknown field ", quote(field));
    }
  }
  return layout;
}

}  // namespace

std::string layouts_to_json(const SavedLayouts& layouts) {
  nlohmann::json tensors = nlohmann::json::object();
  for (const auto& [name, layout] : layouts) tensors[name] = to_json(layout);
  return nlohmann::json{{"version", kVersion}, {"tensors", std::move(tensors)}}.dump();
}

SavedLayouts parse_layouts(std::string_view text, const std::string& origin) {
  const JsonDocument document = JsonDocument::parse(text, origin);
  const JsonValue version = document.root().at("version");
  if (version.to_int() != kVersion)
    version.fail("is ", version.to_int(), "; this program reads version ", kVersion);
  SavedLayouts layouts;
  for (const auto& [name, json] : document.root().at("tensors").members())
    layouts.emplace(name, parse_layout(json));
  return layouts;
}

}  // namespace sb::io
