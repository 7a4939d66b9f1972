// YAML as a tree of values that know their place, over libyaml.

#ifndef SWITCHBOARD_IO_OP_PROFILES_YAML_VALUE_H_
#define SWITCHBOARD_IO_OP_PROFILES_YAML_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::io {

class YamlValue;

// A text of one document.
class YamlDocument {
 public:
  // `origin` begins errors: "profiles.yaml:3: ...". Throws ValueError for what is no YAML, and for
  // anything but one document.
  YamlDocument(std::string origin, std::string_view text);
  ~YamlDocument();

  YamlValue root() const;

 private:
  friend class YamlValue;
  struct Parsed;
  std::string origin_;
  std::unique_ptr<Parsed> parsed_;
};

// A part of a document, which must outlive it. What is asked for and not there is a ValueError that
// says the place.
class YamlValue {
 public:
  bool is_list() const;
  bool is_null() const;  // a plain null or ~, or nothing

  // The values of a mapping, in their order; its keys are strings, each there once.
  std::vector<std::pair<std::string, YamlValue>> members() const;
  // The value of a key.
  YamlValue at(std::string_view key) const;
  // Refuses other keys than these.
  void expect_keys(const std::vector<std::string_view>& keys) const;
  std::vector<YamlValue> items() const;
  std::string to_string() const;
  int64_t to_int() const;

  template <class E = ValueError, class... A>
  [[noreturn]] void fail(const A&... parts) const {
    throw E(str_cat(place(), ": ", parts...));
  }

 private:
  friend class YamlDocument;
  YamlValue(const YamlDocument& document, int index) : document_(&document), index_(index) {}
  std::string place() const;

  const YamlDocument* document_;
  int index_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_OP_PROFILES_YAML_VALUE_H_
