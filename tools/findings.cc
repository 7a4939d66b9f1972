#include "switchboard/tools/findings.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <utility>

#include "switchboard/core/error.h"

namespace sb::tools {
namespace {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  SB_CHECK(file.is_open(), path, ": cannot be opened for writing: ", std::strerror(errno));
  file << text;
  file.close();
  SB_CHECK(file, path, ": could not be written");
}

}  // namespace

void Findings::add(std::string_view name, Json value, std::string_view text) {
  text_ += text;
  facts_[std::string(name)] = std::move(value);
}

void Findings::add_line(std::string_view name, const std::optional<std::string>& value) {
  add(name, or_null(value), value ? *value + "\n" : "");
}

void Findings::add_lines(std::string_view name, const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += value + "\n";
  add(name, values, text);
}

void Findings::add_all(const Json& object, std::string_view text) {
  text_ += text;
  facts_.update(object);
}

void Findings::print(const CommandLine& line, std::ostream& out) const {
  const std::optional<std::string> path = line.find("json");
  if (path && path->empty()) {
    out << to_text(facts_);
    return;
  }
  if (path) write_file(*path, to_text(facts_));
  out << text_;
}

}  // namespace sb::tools
