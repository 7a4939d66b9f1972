// `sb run`: a program from a file, on one device or on all.

#ifndef SWITCHBOARD_TOOLS_RUN_COMMAND_H_
#define SWITCHBOARD_TOOLS_RUN_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& run_spec();

// Runs the program on each device in turn, checks what it gives, and prints the page to `out`.
// Returns the exit status. Throws sb::Error for bad input, which is status 2.
int run_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RUN_COMMAND_H_
