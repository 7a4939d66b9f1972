// The arguments and flags of one command of `sb`.

#ifndef SWITCHBOARD_TOOLS_COMMAND_LINE_H_
#define SWITCHBOARD_TOOLS_COMMAND_LINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace sb::tools {

struct FlagSpec {
  std::string name;       // without the dashes
  std::string value;      // what --help calls its value; empty for a switch; "[F]" if it may lack
  std::string help;       // one line
  bool repeated = false;  // may be given several times, or with several values, "A,B"
  char letter = 0;        // a shorter name: "-o F" for "--out F"
};

struct CommandSpec {
  std::string name;
  std::string arguments;  // as --help shows them: "MODEL"
  size_t min_arguments = 0;
  size_t max_arguments = 0;
  std::string summary;  // one line
  std::vector<FlagSpec> flags;

  // What `sb NAME --help` prints.
  std::string help() const;
};

class CommandLine {
 public:
  // Reads "--name value", "--name=value", "-n value" and "--switch", before, between and after the
  // arguments; a bare "--" ends the flags. A value that may lack is a word behind the last
  // argument. Every command has the switches "json" and "help" and the flag
  // "load", and with "help" may lack arguments.
  // Throws ValueError for what `spec` does not have, and for a flag given twice.
  static CommandLine parse(const CommandSpec& spec, absl::Span<const std::string> words);

  const std::vector<std::string>& arguments() const { return arguments_; }
  bool has(std::string_view flag) const { return flags_.find(flag) != flags_.end(); }
  std::optional<std::string> find(std::string_view flag) const;
  std::string get(std::string_view flag, std::string_view otherwise) const;
  // The values of a repeated flag, "NAME=N" each: {"batch", 7}. Throws as the others.
  std::vector<std::pair<std::string, int64_t>> get_sizes(std::string_view flag) const;
  // A finite number of at least 0, and a 64-bit seed. Throw ValueError that names the flag.
  double get_tolerance(std::string_view flag, double otherwise) const;
  std::optional<uint64_t> find_seed(std::string_view flag) const;
  // A number of 1 to 1,000,000. Throws as the others.
  std::optional<int> find_count(std::string_view flag) const;

 private:
  std::vector<std::string> arguments_;
  std::map<std::string, std::string, std::less<>> flags_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_COMMAND_LINE_H_
