// `sb page`: tables, calls and memory as one file of HTML.

#ifndef SWITCHBOARD_TOOLS_PAGE_COMMAND_H_
#define SWITCHBOARD_TOOLS_PAGE_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& page_spec();

// Writes the page, says so on `out`, and returns the exit status. Throws sb::Error for bad input,
// which is status 2.
int page_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_PAGE_COMMAND_H_
