// What the parsers of one file share: what they pass over, and what is the same in many places.

#ifndef SWITCHBOARD_IO_EXPORTED_PARSE_NOTES_H_
#define SWITCHBOARD_IO_EXPORTED_PARSE_NOTES_H_

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "switchboard/io/exported/expression.h"
#include "switchboard/io/exported/program.h"
#include "switchboard/io/safetensors/json_document.h"

namespace sb::io {

class ParseNotes {
 public:
  // Warns, once for each name, of members of an object that this reader does not know: the format
  // grows with each minor version.
  void check_members(const JsonValue& json, std::string_view what,
                     std::initializer_list<std::string_view> known);

  // A number that is plain, under the tag `plain`, or an expression, under `as_expr`. Remembers the
  // hints of symbols. Throws as program_parser.h describes.
  Expression parse_sym(const JsonValue& json, std::string_view plain);

  ValueMeta parse_value_meta(const JsonValue& json);

  const std::set<std::string>& warnings() const { return warnings_; }
  const SymbolValues& hints() const { return hints_; }

 private:
  std::set<std::string> warnings_;
  SymbolValues hints_;
  absl::flat_hash_map<std::string, Expression> parsed_;  // a file repeats few expressions
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_PARSE_NOTES_H_
