// `sb extract`: one call of a recording as a program.

#ifndef SWITCHBOARD_TOOLS_EXTRACT_COMMAND_H_
#define SWITCHBOARD_TOOLS_EXTRACT_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& extract_spec();

// Returns the exit status. Throws sb::Error for bad input, which is status 2.
int extract_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_EXTRACT_COMMAND_H_
