// `sb dump` and `sb diff`: all tables as a file, and what changed between two of them.

#ifndef SWITCHBOARD_TOOLS_DUMP_COMMANDS_H_
#define SWITCHBOARD_TOOLS_DUMP_COMMANDS_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& dump_spec();
const CommandSpec& diff_spec();

// Print to `out` and return the exit status; that of diff is 0 if the dumps are equal and 1 if they
// differ. Throw sb::Error for bad input, which is status 2.
int dump_command(const CommandLine& line, std::ostream& out);
int diff_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_DUMP_COMMANDS_H_
