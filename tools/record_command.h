// `sb record`: a program from a file, and everything that it calls in another.

#ifndef SWITCHBOARD_TOOLS_RECORD_COMMAND_H_
#define SWITCHBOARD_TOOLS_RECORD_COMMAND_H_

#include <iosfwd>

#include "switchboard/tools/command_line.h"

namespace sb::tools {

const CommandSpec& record_spec();

// Returns the exit status. Throws sb::Error for bad input, which is status 2.
int record_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RECORD_COMMAND_H_
