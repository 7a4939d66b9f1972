#include "switchboard/io/op_profiles/yaml_value.h"

#include <yaml.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {

// libyaml's own objects, in the order in which they go.
struct YamlDocument::Parsed {
  Parsed() { yaml_parser_initialize(&parser); }
  ~Parsed() {
    if (has_document) yaml_document_delete(&document);
    yaml_parser_delete(&parser);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;

  yaml_parser_t parser;
  yaml_document_t document;
  bool has_document = false;
};

namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string_view text_of(const yaml_node_t& scalar) {
  return {reinterpret_cast<const char*>(scalar.data.scalar.value), scalar.data.scalar.length};
}

const char* kind_of(const yaml_node_t& node) {
  switch (node.type) {
    case YAML_SCALAR_NODE:
      return "a scalar";
    case YAML_SEQUENCE_NODE:
      return "a list";
    case YAML_MAPPING_NODE:
      return "a mapping";
    case YAML_NO_NODE:
      break;
  }
  return "nothing";
}

}  // namespace

YamlDocument::YamlDocument(std::string origin, std::string_view text)
    : origin_(std::move(origin)), parsed_(std::make_unique<Parsed>()) {
  Parsed& p = *parsed_;
  yaml_parser_set_input_string(&p.parser, bytes_of(text), text.size());
  const auto check = [&](int loaded) {
    SB_CHECK_VALUE(loaded, origin_, ":", p.parser.problem_mark.line + 1,
                   ": no YAML: ", p.parser.problem ? p.parser.problem : "it cannot be read");
  };
  check(yaml_parser_load(&p.parser, &p.document));
  p.has_document = true;
  SB_CHECK_VALUE(yaml_document_get_root_node(&p.document), origin_, ": expected YAML, got nothing");
  // The end, unless there is more.
  yaml_document_t next;
  check(yaml_parser_load(&p.parser, &next));
  const bool is_end = !yaml_document_get_root_node(&next);
  yaml_document_delete(&next);
  SB_CHECK_VALUE(is_end, origin_, ": expected one document, got several");
}

YamlDocument::~YamlDocument() = default;

YamlValue YamlDocument::root() const { return YamlValue(*this, 1); }

namespace {

const yaml_node_t& node_at(yaml_document_t* document, int index) {
  return *yaml_document_get_node(document, index);
}

}  // namespace

std::string YamlValue::place() const {
  const yaml_node_t& node = node_at(&document_->parsed_->document, index_);
  return str_cat(document_->origin_, ":", node.start_mark.line + 1);
}

bool YamlValue::is_list() const {
  return node_at(&document_->parsed_->document, index_).type == YAML_SEQUENCE_NODE;
}

bool YamlValue::is_null() const {
  const yaml_node_t& node = node_at(&document_->parsed_->document, index_);
  if (node.type != YAML_SCALAR_NODE || node.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
    return false;
  const std::string_view text = text_of(node);
  return text.empty() || text == "null" || text == "~";
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::members() const {
  const yaml_node_t& node = node_at(&document_->parsed_->document, index_);
  if (node.type != YAML_MAPPING_NODE) fail("expected a mapping, got ", kind_of(node));
  std::vector<std::pair<std::string, YamlValue>> members;
  for (const yaml_node_pair_t* pair = node.data.mapping.pairs.start;
       pair != node.data.mapping.pairs.top; ++pair) {
    std::string key = YamlValue(*document_, pair->key).to_string();
    if (std::ranges::find(members, key, [](const auto& m) { return m.first; }) != members.end())
      fail("the key ", quote(key), " is there twice");
    members.emplace_back(std::move(key), YamlValue(*document_, pair->value));
  }
  return members;
}

YamlValue YamlValue::at(std::string_view key) const {
  for (const auto& [name, value] : members())
    if (name == key) return value;
  fail("expected the key ", quote(key));
}

void YamlValue::expect_keys(const std::vector<std::string_view>& keys) const {
  for (const auto& [name, value] : members())
    if (std::ranges::find(keys, name) == keys.end()) value.fail("unknown key ", quote(name));
}

std::vector<YamlValue> YamlValue::items() const {
  const yaml_node_t& node = node_at(&document_->parsed_->document, index_);
  if (node.type != YAML_SEQUENCE_NODE) fail("expected a list, got ", kind_of(node));
  std::vector<YamlValue> items;
  for (const yaml_node_item_t* item = node.data.sequence.items.start;
       item != node.data.sequence.items.top; ++item)
    items.push_back(YamlValue(*document_, *item));
  return items;
}

std::string YamlValue::to_string() const {
  const yaml_node_t& node = node_at(&document_->parsed_->document, index_);
  if (node.type != YAML_SCALAR_NODE) fail("expected a string, got ", kind_of(node));
  return std::string(text_of(node));
}

int64_t YamlValue::to_int() const {
  const std::string text = to_string();
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) fail("expected an integer, got ", quote(text));
  return number;
}

}  // namespace sb::io
