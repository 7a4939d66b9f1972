// What a command found, said once for people and for programs.

#ifndef SWITCHBOARD_TOOLS_FINDINGS_H_
#define SWITCHBOARD_TOOLS_FINDINGS_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/tools/command_line.h"
#include "switchboard/tools/json.h"

namespace sb::tools {

// Facts with names, in order. For people they are text; with --json they are one object. For one
// thread at a time.
class Findings {
 public:
  // `text` is the fact as people read it, line feeds included; empty where the text of another fact
  // says it.
  void add(std::string_view name, Json value, std::string_view text = "");
  // A fact that there may be: null for programs, and nothing for people, where there is none.
  void add_line(std::string_view name, const std::optional<std::string>& value);
  // A list, with a line for each of its elements.
  void add_lines(std::string_view name, const std::vector<std::string>& values);

  // The members of an object, which are one text for people.
  void add_all(const Json& object, std::string_view text);

  // Prints what people read, or with --json the object, indented, with a line feed. With --json F
  // that goes to the file; throws RuntimeError where it cannot be written.
  void print(const CommandLine& line, std::ostream& out) const;

 private:
  std::string text_;
  Json facts_ = Json::object();
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_FINDINGS_H_
