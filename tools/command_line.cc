#include "switchboard/tools/command_line.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::tools {
namespace {

const FlagSpec kHelp{"help", "", "this page"};
// The flags of every command; a command may give one another meaning.
const FlagSpec kShared[] = {{"load", "F", "load a shared object that defines operators", true},
                            {"json", "", "for programs: print JSON instead"},
                            kHelp};

const FlagSpec* find_spec(const CommandSpec& spec, char letter) {
  if (letter == 'h') return &kHelp;
  const auto found = std::ranges::find(spec.flags, letter, &FlagSpec::letter);
  return found == spec.flags.end() ? nullptr : &*found;
}

const FlagSpec* find_spec(const CommandSpec& spec, std::string_view name) {
  const auto own = std::ranges::find(spec.flags, name, &FlagSpec::name);
  if (own != spec.flags.end()) return &*own;
  const auto shared = std::ranges::find(kShared, name, &FlagSpec::name);
  return shared == std::end(kShared) ? nullptr : shared;
}

bool is_optional(const FlagSpec& flag) { return flag.value.starts_with("["); }

std::string flag_text(const FlagSpec& flag) {
  const std::string letter = flag.letter ? str_cat("-", std::string(1, flag.letter), ", ") : "";
  return str_cat(letter, "--", flag.name, flag.value.empty() ? "" : " ", flag.value);
}

}  // namespace

std::string CommandSpec::help() const {
  std::string text = str_cat("usage: sb ", name, " ", arguments, arguments.empty() ? "" : " ",
                             "[flags]\n\n", summary, "\n\n");
  std::vector<FlagSpec> all = flags;
  for (const FlagSpec& flag : kShared)
    if (std::ranges::find(flags, flag.name, &FlagSpec::name) == flags.end()) all.push_back(flag);
  size_t width = 0;
  for (const FlagSpec& flag : all) width = std::max(width, flag_text(flag).size());
  for (const FlagSpec& flag : all) {
    std::string left = flag_text(flag);
    left.resize(width, ' ');
    text += str_cat("  ", left, "  ", flag.help, "\n");
  }
  return text;
}

CommandLine CommandLine::parse(const CommandSpec& spec, absl::Span<const std::string> words) {
  CommandLine line;
  bool flags_ended = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--" && !flags_ended) {
      flags_ended = true;
      continue;
    }
    if (flags_ended || !word.starts_with("-") || word == "-") {
      line.arguments_.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const FlagSpec* const flag = word.starts_with("--")
                                     ? find_spec(spec, word.substr(2, equals - 2))
                                 : word.size() == 2 ? find_spec(spec, word[1])
                                                    : nullptr;
    SB_CHECK_VALUE(flag, spec.name, ": unknown flag ", io::quote(word), "; see sb ", spec.name,
                   " --help");
    const std::string& name = flag->name;
    std::string value;
    if (flag->value.empty()) {
      SB_CHECK_VALUE(equals == word.npos, spec.name, ": --", name, " takes no value");
    } else if (equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (!is_optional(*flag)) {
      SB_CHECK_VALUE(i + 1 < words.size(), spec.name, ": --", name, ": expected ", flag->value,
                     ", got nothing");
      value = words[++i];
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("-") &&
               line.arguments_.size() == spec.max_arguments) {
      value = words[++i];
    }
    const auto [known, fresh] = line.flags_.emplace(name, value);
    SB_CHECK_VALUE(fresh || flag->repeated, spec.name, ": --", name, " is given twice");
    if (!fresh) known->second += "," + value;
  }
  if (line.has(kHelp.name)) return line;
  const size_t given = line.arguments_.size();
  SB_CHECK_VALUE(given >= spec.min_arguments, spec.name, ": expected ", spec.arguments, "; see sb ",
                 spec.name, " --help");
  SB_CHECK_VALUE(given <= spec.max_arguments, spec.name, ": unexpected argument ",
                 io::quote(line.arguments_[spec.max_arguments]));
  return line;
}

std::optional<std::string> CommandLine::find(std::string_view flag) const {
  const auto found = flags_.find(flag);
  if (found == flags_.end()) return std::nullopt;
  return found->second;
}

std::string CommandLine::get(std::string_view flag, std::string_view otherwise) const {
  return find(flag).value_or(std::string(otherwise));
}

std::vector<std::pair<std::string, int64_t>> CommandLine::get_sizes(std::string_view flag) const {
  std::vector<std::pair<std::string, int64_t>> sizes;
  const std::optional<std::string> text = find(flag);
  if (!text) return sizes;
  for (const absl::string_view part : absl::StrSplit(*text, ',')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    int64_t size = 0;
    SB_CHECK_VALUE(!halves.first.empty() && absl::SimpleAtoi(halves.second, &size) && size >= 0,
                   "--", flag, ": expected NAME=N with N of at least 0, got ",
                   io::quote(std::string(part)));
    sizes.emplace_back(halves.first, size);
  }
  return sizes;
}

double CommandLine::get_tolerance(std::string_view flag, double otherwise) const {
  const std::optional<std::string> text = find(flag);
  if (!text) return otherwise;
  double value = 0;
  SB_CHECK_VALUE(absl::SimpleAtod(*text, &value) && std::isfinite(value) && value >= 0, "--", flag,
                 ": expected a number of at least 0, got ", io::quote(*text));
  return value;
}

std::optional<uint64_t> CommandLine::find_seed(std::string_view flag) const {
  const std::optional<std::string> text = find(flag);
  if (!text) return std::nullopt;
  uint64_t value = 0;
  SB_CHECK_VALUE(absl::SimpleAtoi(*text, &value), "--", flag,
                 ": expected an integer of 0 to 2^64 - 1, got ", io::quote(*text));
  return value;
}

std::optional<int> CommandLine::find_count(std::string_view flag) const {
  const std::optional<std::string> text = find(flag);
  if (!text) return std::nullopt;
  int value = 0;
  SB_CHECK_VALUE(absl::SimpleAtoi(*text, &value) && value >= 1 && value <= 1'000'000, "--", flag,
                 ": expected an integer of 1 to 1,000,000, got ", io::quote(*text));
  return value;
}

}  // namespace sb::tools
