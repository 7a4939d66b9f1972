#include "switchboard/tools/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"

namespace sb::tools {
namespace {

constexpr std::string_view kPlain = "\033[0m", kBold = "\033[1m", kFaint = "\033[2m";

struct Line {
  size_t indent = 0;
  std::vector<std::string> cells;
};

// "  CPU    ops/add.cc:31  [kernel]". A rule is a cell even behind a single space.
Line cells_of(const std::string& text) {
  Line line;
  line.indent = std::min(text.find_first_not_of(' '), text.size());
  std::string rest = text.substr(line.indent), rule;
  if (const size_t at = rest.rfind(" ["); at != rest.npos && rest.ends_with(']')) {
    rule = rest.substr(at + 1);
    rest.resize(at);
    rest.resize(rest.find_last_not_of(' ') + 1);
  }
  while (!rest.empty()) {
    const size_t end = rest.find("  ");
    line.cells.push_back(rest.substr(0, end));
    const size_t next = end == rest.npos ? rest.npos : rest.find_first_not_of(' ', end);
    rest.erase(0, next);
  }
  if (!rule.empty()) line.cells.push_back(rule);
  return line;
}

// Characters, of text in UTF-8.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

struct Colour {
  std::string_view begins;  // of a cell
  std::string_view code;
};
// The same as on the page: of rules, then of verdicts.
constexpr Colour kColours[] = {
    {"[kernel", "\033[34m"},    {"[default backend", "\033[32m"},
    {"[math", "\033[32m"},      {"[nested", "\033[32m"},
    {"[autograd", "\033[35m"},  {"[batched", "\033[36m"},
    {"[backend", "\033[33m"},   {"[missing", "\033[31m"},
    {"[ambiguous", "\033[31m"}, {"runs", kBold},
    {"may run", kBold},         {"fails", "\033[31m"},
    {"excluded", kFaint},       {"falls through", kFaint},
    {"fallthrough ", kFaint},   {"(none)", kFaint},
};

std::string_view colour_of(std::string_view cell) {
  for (const Colour& colour : kColours)
    if (cell.starts_with(colour.begins)) return colour.code;
  return "";
}

std::string painted(const Line& line, size_t column, const std::string& text, bool colours) {
  if (!colours) return text;
  std::string_view code = colour_of(line.cells[column]);
  if (line.cells.size() == 1) code = kBold;  // a heading
  // A key has the colour of the rule that fills its slot.
  if (column == 0 && line.cells.size() > 1 && line.cells.back().starts_with('['))
    code = colour_of(line.cells.back());
  return code.empty() ? text : std::string(code) + text + std::string(kPlain);
}

}  // namespace

TerminalStyle terminal_style(const std::ostream& out) {
  if (&out != &std::cout || !::isatty(STDOUT_FILENO)) return {};
  const char* const none = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  const bool dumb = term && std::string_view(term) == "dumb";
  return {true, !dumb && !(none && *none)};
}

std::string styled(const std::string& text, TerminalStyle style) {
  if (!style.columns) return text;
  std::vector<Line> lines;
  for (const auto& line : absl::StrSplit(text, '\n')) lines.push_back(cells_of(std::string(line)));
  std::string out;
  for (size_t begin = 0; begin < lines.size();) {
    // A block: lines of as many cells at the same place.
    size_t end = begin + 1;
    while (end < lines.size() && lines[end].indent == lines[begin].indent &&
           lines[end].cells.size() == lines[begin].cells.size())
      ++end;
    std::vector<size_t> widths(lines[begin].cells.size());
    for (size_t i = begin; i < end; ++i)
      for (size_t c = 0; c < widths.size(); ++c)
        widths[c] = std::max(widths[c], width_of(lines[i].cells[c]));
    for (; begin < end; ++begin) {
      const Line& line = lines[begin];
      out += std::string(line.cells.empty() ? 0 : line.indent, ' ');
      for (size_t c = 0; c < widths.size(); ++c) {
        out += painted(line, c, line.cells[c], style.colours);
        if (c + 1 < widths.size()) out += std::string(widths[c] - width_of(line.cells[c]) + 2, ' ');
      }
      if (begin + 1 < lines.size()) out += '\n';
    }
  }
  return out;
}

std::string styled_trace(const std::string& line, TerminalStyle style) {
  constexpr size_t kPlaces[] = {44, 62, 110};  // where the key, the kernel and the time begin
  const Line parts = cells_of(line);
  if (!style.columns || parts.cells.size() < 3) return line;
  std::string out(parts.indent, ' ');
  size_t width = parts.indent;
  for (size_t c = 0; c < parts.cells.size(); ++c) {
    const std::string& cell = parts.cells[c];
    const std::string_view code = cell == "threw" ? "\033[31m"
                                  : c == 0        ? kBold
                                  : c == 1        ? "\033[34m"
                                  : c == 2        ? kFaint
                                                  : "";
    out += !style.colours || code.empty() ? cell : std::string(code) + cell + std::string(kPlain);
    width += width_of(cell);
    if (c + 1 == parts.cells.size()) break;
    const size_t next = std::max(width + 2, c < std::size(kPlaces) ? kPlaces[c] : 0);
    out += std::string(next - width, ' ');
    width = next;
  }
  return out;
}

}  // namespace sb::tools
