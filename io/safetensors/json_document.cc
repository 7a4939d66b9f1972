#include "switchboard/io/safetensors/json_document.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "switchboard/io/safetensors/quote.h"

namespace sb::io {

struct JsonMember;
// nlohmann's own tree is not used: it keeps the last of two members of one name in silence, and its
// filtered parser takes quadratic time over long arrays.
struct JsonNode {
  using Array = std::vector<JsonNode>;
  using Object = std::vector<JsonMember>;
  // uint64_t holds only what int64_t cannot.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value;
};
struct JsonMember {
  std::string name;
  JsonNode node;
};

namespace {

// Deeper than any exporter writes (a program needs about 15), and shallow enough to recurse over.
constexpr size_t kMaxDepth = 64;
// A value takes some 40 bytes where its text may take 2. vit_b_16, 839 nodes, has 49 thousand.
constexpr size_t kMaxValues = size_t{1} << 22;

// Builds the tree from nlohmann's events.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(JsonNode* root, const std::string& origin) : root_(root), origin_(origin) {}

  bool null() override { return add(std::monostate()) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(int64_t{value}) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add(static_cast<int64_t>(value)) != nullptr;
    return add(uint64_t{value}) != nullptr;
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(double{value}) != nullptr;
  }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }

  bool start_array(std::size_t) override { return open(JsonNode::Array()); }
  bool start_object(std::size_t) override { return open(JsonNode::Object()); }
  bool key(string_t& name) override {
    next_name_ = std::move(name);
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool end_object() override {
    const auto& members = std::get<JsonNode::Object>(open_.back()->value);
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const JsonMember& member : members) names.push_back(member.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    SB_CHECK_VALUE(twice == names.end(), origin_, ": the name ", quote(*twice),
                   " is there twice in one object");
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, ...": the first word is for people
    // who look things up in nlohmann's manual.
    const std::string_view message = error.what();
    const size_t start = message.find("] ");
    // It shows the text that it stopped in, as it is.
    SB_THROW(ValueError, origin_, ": byte ", position, ": ",
             escape_message(message.substr(start == message.npos ? 0 : start + 2)));
  }

 private:
  template <class T>
  JsonNode* add(T&& value) {
    SB_CHECK_VALUE(++count_ <= kMaxValues, origin_, ": more than ", kMaxValues, " values");
    JsonNode* node = root_;
    if (!open_.empty()) {
      auto& parent = open_.back()->value;
      if (auto* array = std::get_if<JsonNode::Array>(&parent))
        node = &array->emplace_back();
      else
        node = &std::get<JsonNode::Object>(parent)
                    .emplace_back(JsonMember{std::move(next_name_), {}})
                    .node;
    }
    node->value = std::forward<T>(value);
    return node;
  }
  template <class T>
  bool open(T&& value) {
    SB_CHECK_VALUE(open_.size() < kMaxDepth, origin_, ": is nested deeper than ", kMaxDepth,
                   " levels");
    open_.push_back(add(std::forward<T>(value)));
    return true;
  }

  JsonNode* root_;
  const std::string& origin_;
  // The arrays and objects that are not closed yet. Only the innermost grows, so these stay valid.
  std::vector<JsonNode*> open_;
  std::string next_name_;
  size_t count_ = 0;
};

// Writes the steps from `from` to `to` and returns true, or false if `to` is not below.
bool find_path(const JsonNode& from, const JsonNode* to, std::string* path) {
  if (&from == to) return true;
  const size_t length = path->size();
  if (const auto* array = std::get_if<JsonNode::Array>(&from.value)) {
    for (size_t i = 0; i < array->size(); ++i) {
      const JsonNode& element = (*array)[i];
      absl::StrAppend(path, "[", i, "]");
      if (const auto* object = std::get_if<JsonNode::Object>(&element.value)) {
        for (const JsonMember& member : *object) {
          const auto* name = std::get_if<std::string>(&member.node.value);
          if (name && member.name == "name" && !name->empty() && name->size() <= 120)
            absl::StrAppend(path, " (", absl::CHexEscape(*name), ")");
        }
      }
      if (find_path(element, to, path)) return true;
      path->resize(length);
    }
  } else if (const auto* object = std::get_if<JsonNode::Object>(&from.value)) {
    for (const JsonMember& member : *object) {
      if (!path->empty()) path->push_back('/');
      const std::string_view name(member.name);
      absl::StrAppend(path, absl::CHexEscape(to_absl(name.substr(0, 120))));
      if (find_path(member.node, to, path)) return true;
      path->resize(length);
    }
  }
  return false;
}

constexpr std::string_view kTypeNames[] = {"null",     "a bool",   "an integer", "a large integer",
                                           "a number", "a string", "an array",   "an object"};

}  // namespace

JsonDocument::JsonDocument(std::unique_ptr<JsonNode> root, std::string origin)
    : root_(std::move(root)), origin_(std::move(origin)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

JsonDocument JsonDocument::parse(std::string_view text, std::string origin) {
  auto root = std::make_unique<JsonNode>();
  TreeBuilder builder(root.get(), origin);
  SB_CHECK_VALUE(nlohmann::json::sax_parse(text.begin(), text.end(), &builder), origin,
                 ": is not JSON");
  return JsonDocument(std::move(root), std::move(origin));
}

bool JsonValue::is_null() const { return std::holds_alternative<std::monostate>(node_->value); }
bool JsonValue::is_string() const { return std::holds_alternative<std::string>(node_->value); }

bool JsonValue::to_bool() const {
  if (const bool* value = std::get_if<bool>(&node_->value)) return *value;
  fail_type("a bool");
}

int64_t JsonValue::to_int() const {
  if (const int64_t* value = std::get_if<int64_t>(&node_->value)) return *value;
  if (const uint64_t* value = std::get_if<uint64_t>(&node_->value))
    fail(*value, " does not fit int64");
  fail_type("an integer");
}

double JsonValue::to_double() const {
  if (const double* value = std::get_if<double>(&node_->value)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&node_->value))
    return static_cast<double>(*value);
  if (const uint64_t* value = std::get_if<uint64_t>(&node_->value))
    return static_cast<double>(*value);
  if (const auto* text = std::get_if<std::string>(&node_->value)) {
    if (*text == "Infinity") return std::numeric_limits<double>::infinity();
    if (*text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (*text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    fail("expected a number, got ", quote(*text));
  }
  fail_type("a number");
}

const std::string& JsonValue::to_string() const {
  if (const auto* value = std::get_if<std::string>(&node_->value)) return *value;
  fail_type("a string");
}

std::vector<JsonValue> JsonValue::elements() const {
  const auto* array = std::get_if<JsonNode::Array>(&node_->value);
  if (!array) fail_type("an array");
  std::vector<JsonValue> result;
  result.reserve(array->size());
  for (const JsonNode& element : *array) result.push_back(JsonValue(&element, document_));
  return result;
}

std::vector<std::pair<std::string_view, JsonValue>> JsonValue::members() const {
  const auto* object = std::get_if<JsonNode::Object>(&node_->value);
  if (!object) fail_type("an object");
  std::vector<std::pair<std::string_view, JsonValue>> result;
  result.reserve(object->size());
  for (const JsonMember& member : *object)
    result.emplace_back(member.name, JsonValue(&member.node, document_));
  return result;
}

JsonValue JsonValue::at(std::string_view name) const {
  const auto* object = std::get_if<JsonNode::Object>(&node_->value);
  if (!object) fail_type("an object");
  for (const JsonMember& member : *object)
    if (member.name == name) return JsonValue(&member.node, document_);
  fail("no field ", quote(name));
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  const auto* object = std::get_if<JsonNode::Object>(&node_->value);
  if (!object) fail_type("an object");
  for (const JsonMember& member : *object)
    if (member.name == name && !std::holds_alternative<std::monostate>(member.node.value))
      return JsonValue(&member.node, document_);
  return std::nullopt;
}

std::pair<std::string_view, JsonValue> JsonValue::only_member() const {
  const auto* object = std::get_if<JsonNode::Object>(&node_->value);
  if (!object) fail_type("an object of one tag");
  if (object->size() != 1) fail("expected one tag, got ", object->size(), " fields");
  return {object->front().name, JsonValue(&object->front().node, document_)};
}

std::string JsonValue::place() const {
  // Searched for only now: a value need not carry its path, and most never fail.
  std::string path;
  find_path(*document_->root_, node_, &path);
  return path.empty() ? document_->origin_ : absl::StrCat(document_->origin_, ": ", path);
}

void JsonValue::fail_type(std::string_view expected) const {
  fail("expected ", expected, ", got ", kTypeNames[node_->value.index()]);
}

}  // namespace sb::io
