// How text looks on a terminal: columns that line up, and colours. Elsewhere it stays as it is.

#ifndef SWITCHBOARD_TOOLS_TERMINAL_H_
#define SWITCHBOARD_TOOLS_TERMINAL_H_

#include <iosfwd>
#include <string>

namespace sb::tools {

struct TerminalStyle {
  bool columns = false;
  bool colours = false;
};

// What `out` is fit for: nothing but plain text, unless it is std::cout and that is a terminal.
// No colours where NO_COLOR is set, or TERM is "dumb".
TerminalStyle terminal_style(const std::ostream& out);

// A text of the inspector (tables, explanations, traces) in that style. Its lines have cells, with
// two spaces or more between them; those of one indentation that follow each other line up. The
// colour is that of the resolution rule "[...]" that ends a line, and of what a verdict says.
std::string styled(const std::string& text, TerminalStyle style);

// A line of a trace, "  aten::mm  CPU  ops/mm.cc:31  2.1 us", in that style: the cells of all lines
// begin at the same places, as far as they fit.
std::string styled_trace(const std::string& line, TerminalStyle style);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_TERMINAL_H_
