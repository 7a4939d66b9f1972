// JSON text as a tree that knows where each value stands, for readers of files that nobody vouches
// for.

#ifndef SWITCHBOARD_IO_SAFETENSORS_JSON_DOCUMENT_H_
#define SWITCHBOARD_IO_SAFETENSORS_JSON_DOCUMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::io {

struct JsonNode;
class JsonDocument;

// A value of a document, which must outlive it. Every accessor throws ValueError that says the
// file, the place and what was expected instead.
class JsonValue {
 public:
  bool is_null() const;
  bool is_string() const;
  bool to_bool() const;
  // Exact: a number with a fraction, an exponent or more than 64 bits is none.
  int64_t to_int() const;
  // Any number, or one of the strings "Infinity", "-Infinity" and "NaN".
  double to_double() const;
  const std::string& to_string() const;

  // The elements of an array.
  std::vector<JsonValue> elements() const;
  // The members of an object, in the order of the text. Names are unique.
  std::vector<std::pair<std::string_view, JsonValue>> members() const;
  // A member of an object; and the same, nullopt where it is absent or null.
  JsonValue at(std::string_view name) const;
  std::optional<JsonValue> find(std::string_view name) const;
  // The only member of an object: how the exporter writes a tagged union.
  std::pair<std::string_view, JsonValue> only_member() const;

  // "net.pt2: models/model.json: graph_module/graph/nodes[3] (addmm_1)": steps by member are
  // separated by slashes; an element with a member "name" shows it.
  std::string place() const;
  // Throws E: the place, then the parts.
  template <class E = ValueError, class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw E(str_cat(place(), ": ", parts...));
  }

 private:
  friend class JsonDocument;
  JsonValue(const JsonNode* node, const JsonDocument* document)
      : node_(node), document_(document) {}
  [[noreturn]] void fail_type(std::string_view expected) const;

  const JsonNode* node_;
  const JsonDocument* document_;
};

class JsonDocument {
 public:
  // Throws ValueError with `origin` and the place in the text: malformed JSON (what follows the
  // value included), invalid UTF-8, nesting deeper than 64 levels, more than 2^22 values,
  // duplicated names of members.
  static JsonDocument parse(std::string_view text, std::string origin);

  JsonDocument(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonValue root() const { return JsonValue(root_.get(), this); }
  const std::string& origin() const { return origin_; }

 private:
  friend class JsonValue;
  JsonDocument(std::unique_ptr<JsonNode> root, std::string origin);

  std::unique_ptr<JsonNode> root_;
  std::string origin_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_SAFETENSORS_JSON_DOCUMENT_H_
